//! Builds a run from lines without a checksum, for logs without records and for published tables.

use std::collections::BTreeSet;

use hardware::board::{CPU_MAX, CpuIndex};
use itertools::Itertools as _;
use suite::model::{Cell, CellStep, Cpu, Run, Scenario, ScenarioKey, Skip, Status};
use suite::plan::{Method, ScenarioId};

use super::integrity::Integrity;
use super::plain_line::RtInstr;

/// The maximum number of rows in a scenario: eight for each of 512 CPUs.
pub(super) const ROWS_MAX: usize = 4096;

/// The scenarios found in the lines so far.
#[derive(Debug, Default)]
pub(super) struct LineRun {
    scenarios: Vec<LineScenario>,
    /// The index of the scenario in progress.
    current: Option<usize>,
    /// The results of all scenarios, including those unknown to this version.
    ended: Vec<Status>,
    /// Failed scenarios whose start is missing or unknown.
    pub(super) strays: u32,
}

#[derive(Debug)]
struct LineScenario {
    id: ScenarioId,
    method: Method,
    status: Status,
    rows: Vec<LineRow>,
    /// The cluster and core of each CPU whose rows were skipped.
    skipped: BTreeSet<(u16, u16)>,
}

/// The figures for one CPU, in nanoseconds.
#[derive(Clone, Debug)]
struct LineRow {
    /// Cluster and core.
    label: (u16, u16),
    /// The number of earlier rows with the same labels.
    nth: usize,
    /// The values, or None if lines are contradictory.
    values: Option<[Option<u64>; 3]>,
}

/// A CPU's cluster and core, and the number of earlier CPUs with the same labels.
type CpuKey = ((u16, u16), usize);

/// A line with one CPU's figures, as received.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowOfLine {
    pub(super) id: ScenarioId,
    /// Cluster and core.
    pub(super) label: (u16, u16),
    /// As in [`RtInstr`].
    pub(super) values: [Option<u64>; 3],
}

impl LineRun {
    /// Returns all lines with figures.
    pub(super) fn rows(&self) -> Vec<RowOfLine> {
        let mut rows = Vec::new();
        for scenario in &self.scenarios {
            for row in &scenario.rows {
                if let Some(values) = row.values {
                    rows.push(RowOfLine {
                        id: scenario.id,
                        label: row.label,
                        values,
                    });
                }
            }
        }
        rows
    }

    pub(super) fn is_empty(&self) -> bool {
        self.scenarios.is_empty()
    }

    fn index_of(&self, (id, method): (ScenarioId, Method)) -> Option<usize> {
        self.scenarios
            .iter()
            .position(|scenario| (scenario.id, scenario.method) == (id, method))
    }

    /// Returns true if the scenario was started.
    pub(super) fn has(&self, scenario: (ScenarioId, Method)) -> bool {
        self.index_of(scenario).is_some()
    }

    /// Starts or continues a scenario. None means that the scenario is unknown.
    pub(super) fn begin(&mut self, scenario: Option<(ScenarioId, Method)>) {
        let Some((id, method)) = scenario else {
            self.current = None;
            return;
        };
        let known = self.index_of((id, method));
        if known.is_none() {
            self.scenarios.push(LineScenario {
                id,
                method,
                status: Status::Unknown,
                rows: Vec::new(),
                skipped: BTreeSet::new(),
            });
        }
        self.current = Some(known.unwrap_or(self.scenarios.len() - 1));
    }

    /// Adds a line with figures, and starts its scenario if the line that would have started it was
    /// lost. Returns false if the scenario is unknown.
    pub(super) fn add(&mut self, id: Option<ScenarioId>, line: &RtInstr<'_>) -> bool {
        self.begin(id.map(|id| (id, Method::Tftf)));
        let Some(index) = self.current else {
            return false;
        };
        let rows = &mut self.scenarios[index].rows;
        if rows.len() < ROWS_MAX {
            rows.push(LineRow {
                label: line.label,
                nth: 0,
                values: Some(line.values),
            });
        }
        true
    }

    /// Adds the CPUs in a list such as `0.1, 1.3`, whose rows were skipped.
    pub(super) fn skip(&mut self, id: ScenarioId, cpus: &str) {
        let labels = cpus.split(", ").filter_map(|cpu| {
            let (cluster, core) = cpu.split_once('.')?;
            Some((cluster.parse().ok()?, core.parse().ok()?))
        });
        if let Some(index) = self.index_of((id, Method::Tftf)) {
            self.scenarios[index].skipped.extend(labels.take(ROWS_MAX));
        }
    }

    /// Ends the scenario. Returns false if the line adds nothing new.
    pub(super) fn complete(&mut self, status: Status) -> bool {
        if self.ended.len() < ROWS_MAX {
            self.ended.push(status);
        }
        // A lost line may have started another scenario.
        match self.current.take() {
            Some(index) => self.scenarios[index].status = status,
            None if matches!(status, Status::Failed(_) | Status::Crashed) => self.strays += 1,
            None => return false,
        }
        true
    }

    /// Returns the number of scenarios that ended with this status.
    pub(super) fn count_of(&self, status: Status) -> usize {
        self.ended
            .iter()
            .filter(|ended_status| **ended_status == status)
            .count()
    }

    /// Returns the run, with its CPUs in line order. Duplicate labels are kept: they
    /// are ambiguous, but do not indicate threads.
    pub(super) fn run(mut self, integrity: &mut Integrity) -> Run {
        let scenarios = self.scenarios.iter();
        let rows_per_label = scenarios
            .filter_map(|scenario| scenario.rows_per_label(integrity.tables))
            .find(|count| *count > 1)
            .unwrap_or(1);
        for scenario in &mut self.scenarios {
            scenario.keep(rows_per_label, integrity);
        }
        let rows = self.scenarios.iter().flat_map(|scenario| &scenario.rows);
        let keys: Vec<CpuKey> = rows
            .map(|row| (row.label, row.nth))
            .unique()
            .take(CPU_MAX)
            .collect();
        let cpus = keys.iter().map(|&((cluster, core), _)| Cpu {
            cluster,
            core,
            ..Cpu::default()
        });
        let scenarios = self.scenarios.iter();
        Run {
            cpus: cpus.collect(),
            scenarios: scenarios.map(|scenario| scenario.build(&keys)).collect(),
            ..Run::default()
        }
    }
}

impl LineScenario {
    /// Returns the number of rows per label, unless it could be explained by repeated lines. A
    /// single label is not enough to draw a conclusion.
    fn rows_per_label(&self, is_table: bool) -> Option<usize> {
        let distinct = self.rows.iter().unique_by(|row| (row.label, row.values));
        let rows_by_label = self.rows.iter().counts_by(|row| row.label);
        let has_several = is_table || distinct.count() > rows_by_label.len();
        if !has_several || rows_by_label.len() < 2 {
            return None;
        }
        rows_by_label.values().all_equal_value().ok().copied()
    }

    /// Keeps `rows_per_label` rows for each label. Identical lines are merged, and the values of
    /// conflicting lines are dropped.
    fn keep(&mut self, rows_per_label: usize, integrity: &mut Integrity) {
        let mut kept: Vec<LineRow> = Vec::new();
        for mut row in std::mem::take(&mut self.rows) {
            let mut same_label: Vec<&mut LineRow> = kept
                .iter_mut()
                .filter(|earlier_row| earlier_row.label == row.label)
                .collect();
            if same_label.len() < rows_per_label {
                row.nth = same_label.len();
                kept.push(row);
            } else if same_label
                .iter()
                .any(|earlier_row| earlier_row.values == row.values)
            {
                integrity.rt_instr_repeated += 1;
            } else {
                integrity.rt_instr_ambiguous += 1;
                for earlier in &mut same_label {
                    earlier.values = None;
                }
            }
        }
        self.rows = kept;
    }

    /// Returns the scenario with a cell for each CPU in `keys` that has figures or was skipped, up
    /// to [`CPU_MAX`] cells. With two helper placements, a CPU may have been skipped in only one of
    /// them.
    fn build(&self, keys: &[CpuKey]) -> Scenario {
        let mut scenario = Scenario::new(ScenarioKey {
            id: self.id,
            method: self.method,
            helper: None,
        });
        scenario.status = self.status;
        scenario.cells = CpuIndex::all(keys.len())
            .zip(keys)
            .map(|(cpu, key)| self.cell(cpu, key))
            .filter(|cell| cell.has_figures() || cell.skipped.is_some())
            .collect();
        scenario
    }

    /// Returns a CPU's cell, which is empty if there is no row for it.
    fn cell(&self, cpu: CpuIndex, key: &CpuKey) -> Cell {
        let mut rows = self.rows.iter();
        let row = rows.find(|row| (row.label, row.nth) == *key);
        let mut cell = Cell::new(cpu, CellStep::default());
        if let Some(values) = row.and_then(|row| row.values) {
            for (metric, value) in self.id.columns().iter().zip(values) {
                cell.set_figure(*metric, value);
            }
        } else if self.skipped.contains(&key.0) {
            cell.skipped = Some(Skip::NotStated);
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use suite::measure::Metric;

    use super::*;

    /// A line's cluster, core and value.
    type Line = (u16, u16, u64);

    /// Returns the labels and values of the rows built from these lines, and the number of
    /// ambiguous lines.
    fn settled(scenarios: &[&[Line]]) -> (Vec<(u16, u64)>, u32) {
        let mut integrity = Integrity::default();
        let mut line_run = LineRun::default();
        for (lines, id) in scenarios.iter().zip(ScenarioId::ALL) {
            for &(cluster, core, value) in *lines {
                let values = [Some(value), None, None];
                let tag = "test_x";
                let label = (cluster, core);
                line_run.add(Some(id), &RtInstr { tag, label, values });
            }
        }
        let run = line_run.run(&mut integrity);
        let cells = run.scenarios.iter().flat_map(|scenario| &scenario.cells);
        let rows = cells.map(|cell| {
            let figure = cell.figure(Metric::Powerdown).unwrap_or(0);
            (cell.cpu.into(), figure)
        });
        (rows.collect(), integrity.rt_instr_ambiguous)
    }

    #[test]
    fn equal_lines_are_one_cpu_and_contradictory_ones_none() {
        let both = [(0, 0, 7), (0, 0, 8), (1, 0, 9), (1, 0, 6)];
        let several = [(0, 7), (1, 8), (2, 9), (3, 6)];
        let alike = [(0, 0, 80); 2];
        let three = [&both[..], &[(1, 0, 6)]].concat();
        let twice = [(0, 0, 7), (0, 1, 9), (0, 0, 7), (0, 1, 9)];
        // The third case repeats the complete log, as if a terminal had been logged twice.
        for (lines, rows, ambiguous) in [
            (
                &[&[(0, 0, 7), (0, 0, 7), (0, 1, 9)][..]][..],
                &[(0, 7), (1, 9)][..],
                0,
            ),
            (&[&[(0, 0, 7), (0, 0, 77), (0, 1, 9)]], &[(1, 9)], 1),
            (&[&twice], &[(0, 7), (1, 9)], 0),
            (&[&both], &several, 0),
            (
                &[&alike, &both],
                &[&[(0, 80), (1, 80)], &several[..]].concat(),
                0,
            ),
            (&[&both, &three], &[several, several].concat(), 0),
        ] {
            assert_eq!(settled(lines), (rows.to_vec(), ambiguous), "{lines:?}");
        }
    }
}
