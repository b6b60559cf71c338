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
    pub(super) fn rows(&self) -> impl Iterator<Item = RowOfLine> {
        self.scenarios.iter().flat_map(|scenario| {
            scenario.rows.iter().filter_map(|row| {
                Some(RowOfLine {
                    id: scenario.id,
                    label: row.label,
                    values: row.values?,
                })
            })
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.scenarios.is_empty()
    }

    fn place_of(&self, (id, method): (ScenarioId, Method)) -> Option<usize> {
        let is_it = |it: &LineScenario| (it.id, it.method) == (id, method);
        self.scenarios.iter().position(is_it)
    }

    /// Returns true if the scenario was started.
    pub(super) fn has(&self, scenario: (ScenarioId, Method)) -> bool {
        self.place_of(scenario).is_some()
    }

    /// Starts or continues a scenario. None means that the scenario is unknown.
    pub(super) fn begin(&mut self, scenario: Option<(ScenarioId, Method)>) {
        self.current = scenario.map(|(id, method)| {
            self.place_of((id, method)).unwrap_or_else(|| {
                self.scenarios.push(LineScenario {
                    id,
                    method,
                    status: Status::Unknown,
                    rows: Vec::new(),
                    skipped: BTreeSet::new(),
                });
                self.scenarios.len() - 1
            })
        });
    }

    /// Adds a line with figures, and starts its scenario if the line that would have started it was
    /// lost. Returns false if the scenario is unknown.
    pub(super) fn add(&mut self, id: Option<ScenarioId>, line: &RtInstr<'_>) -> bool {
        self.begin(id.map(|id| (id, Method::Tftf)));
        let own = self.current.map(|place| &mut self.scenarios[place].rows);
        let is_known = own.is_some();
        if let Some(rows) = own.filter(|it| it.len() < ROWS_MAX) {
            let (label, nth, values) = (line.label, 0, Some(line.values));
            rows.push(LineRow { label, nth, values });
        }
        is_known
    }

    /// Adds the CPUs in a list such as `0.1, 1.3`, whose rows were skipped.
    pub(super) fn skip(&mut self, id: ScenarioId, cpus: &str) {
        let labels = cpus.split(", ").filter_map(|it| {
            let (cluster, core) = it.split_once('.')?;
            Some((cluster.parse().ok()?, core.parse().ok()?))
        });
        if let Some(place) = self.place_of((id, Method::Tftf)) {
            self.scenarios[place].skipped.extend(labels.take(ROWS_MAX));
        }
    }

    /// Ends the scenario. Returns false if the line adds nothing new.
    pub(super) fn complete(&mut self, status: Status) -> bool {
        if self.ended.len() < ROWS_MAX {
            self.ended.push(status);
        }
        // A lost line may have started another scenario.
        match self.current.take() {
            Some(place) => self.scenarios[place].status = status,
            None if matches!(status, Status::Failed(_) | Status::Crashed) => self.strays += 1,
            None => return false,
        }
        true
    }

    /// Returns the number of scenarios that ended with this status.
    pub(super) fn count_of(&self, status: Status) -> usize {
        self.ended.iter().filter(|it| **it == status).count()
    }

    /// Returns the run, with its CPUs in line order. Duplicate labels are kept: they
    /// are ambiguous, but do not indicate threads.
    pub(super) fn run(mut self, integrity: &mut Integrity) -> Run {
        let each = self.scenarios.iter();
        let mut each = each.filter_map(|it| it.rows_of_label(integrity.tables));
        let each = each.find(|each| *each > 1).unwrap_or(1);
        let all = self.scenarios.iter_mut();
        all.for_each(|it| it.keep(each, integrity));
        let rows = self.scenarios.iter().flat_map(|it| &it.rows);
        let keys = rows.map(|row| (row.label, row.nth)).unique().take(CPU_MAX);
        let keys: Vec<_> = keys.collect();
        let cpus = keys.iter().map(|&((cluster, core), _)| Cpu {
            cluster,
            core,
            ..Cpu::default()
        });
        Run {
            cpus: cpus.collect(),
            scenarios: self.scenarios.iter().map(|it| it.scenario(&keys)).collect(),
            ..Run::default()
        }
    }
}

impl LineScenario {
    /// Returns the number of rows per label, unless it could be explained by repeated lines. A
    /// single label is not enough to draw a conclusion.
    fn rows_of_label(&self, is_table: bool) -> Option<usize> {
        let values = self.rows.iter().unique_by(|row| (row.label, row.values));
        let rows = self.rows.iter().counts_by(|row| row.label);
        let has_several = is_table || values.count() > rows.len();
        let each = rows.values().all_equal_value().ok();
        each.filter(|_| has_several && rows.len() > 1).copied()
    }

    /// Keeps `each` rows per label. Identical lines are merged, and the values of conflicting lines
    /// are dropped.
    fn keep(&mut self, each: usize, integrity: &mut Integrity) {
        let mut kept: Vec<LineRow> = Vec::new();
        for mut row in std::mem::take(&mut self.rows) {
            let own: Vec<&mut LineRow> =
                kept.iter_mut().filter(|it| it.label == row.label).collect();
            if own.len() < each {
                row.nth = own.len();
                kept.push(row);
            } else if own.iter().any(|it| it.values == row.values) {
                integrity.rt_instr_repeated += 1;
            } else {
                integrity.rt_instr_ambiguous += 1;
                own.into_iter().for_each(|it| it.values = None);
            }
        }
        self.rows = kept;
    }

    /// Returns the scenario with a cell for each CPU in `keys` that has figures or was skipped, up
    /// to [`CPU_MAX`] cells. With two helper placements, a CPU may have been skipped in only one of
    /// them.
    fn scenario(&self, keys: &[((u16, u16), usize)]) -> Scenario {
        let (id, method, helper) = (self.id, self.method, None);
        let mut scenario = Scenario::new(ScenarioKey { id, method, helper });
        scenario.status = self.status;
        let metrics = id.columns();
        let cells = CpuIndex::all(keys.len())
            .zip(keys)
            .filter_map(|(cpu, key)| {
                let own = self.rows.iter().find(|it| (it.label, it.nth) == *key);
                let mut cell = Cell::new(cpu, CellStep::default());
                match own.and_then(|it| it.values) {
                    Some(values) => {
                        for (metric, value) in metrics.iter().zip(values) {
                            cell.set_figure(*metric, value);
                        }
                    }
                    None => {
                        cell.skipped =
                            Some(Skip::NotStated).filter(|_| self.skipped.contains(&key.0));
                    }
                }
                (cell.has_figures() || cell.skipped.is_some()).then_some(cell)
            });
        scenario.cells = cells.collect();
        scenario
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
        let (mut integrity, mut run) = (Integrity::default(), LineRun::default());
        for (lines, id) in scenarios.iter().zip(ScenarioId::ALL) {
            for &(cluster, core, value) in *lines {
                let values = [Some(value), None, None];
                let (tag, label) = ("test_x", (cluster, core));
                run.add(Some(id), &RtInstr { tag, label, values });
            }
        }
        let run = run.run(&mut integrity);
        let cells = run.scenarios.iter().flat_map(|it| &it.cells);
        let cells = cells.map(|it| (it.cpu.into(), it.figure(Metric::Powerdown).unwrap_or(0)));
        (cells.collect(), integrity.rt_instr_ambiguous)
    }

    #[test]
    fn equal_lines_are_one_cpu_and_contradictory_ones_none() {
        let both = [(0, 0, 7), (0, 0, 8), (1, 0, 9), (1, 0, 6)];
        let several = [(0, 7), (1, 8), (2, 9), (3, 6)];
        let (alike, three) = ([(0, 0, 80); 2], [&both[..], &[(1, 0, 6)]].concat());
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
