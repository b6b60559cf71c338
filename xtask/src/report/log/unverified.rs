//! Figures and results from lines without a checksum.

use std::collections::BTreeSet;

use itertools::Itertools as _;
use psci_bench::board::CPU_MAX;
use psci_bench::model::{Cpu, Figures, Row, Run, Scenario, ScenarioKey, Skip, Status};
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::spec::ticks::Clock;

use super::integrity::Integrity;
use super::logged_run::LoggedRun;
use super::plain_line::RtInstr;

/// The most rows of a scenario: 512 CPUs have four copies of them.
pub(super) const ROWS_MAX: usize = 4096;

/// The lines of a scenario.
#[derive(Debug)]
pub(super) struct LineScenario {
    pub(super) id: ScenarioId,
    pub(super) method: Method,
    pub(super) status: Status,
    rows: Vec<LineRow>,
    /// Cluster and core of the CPUs whose rows were skipped.
    skipped: BTreeSet<(u16, u16)>,
}

/// A CPU's figures in nanoseconds.
#[derive(Clone, Debug)]
struct LineRow {
    /// Cluster and core.
    label: (u16, u16),
    /// The number of rows before with the same labels.
    nth: usize,
    /// None if lines contradict each other.
    values: Option<[Option<u64>; 3]>,
}

impl LineScenario {
    pub(super) fn new(id: ScenarioId, method: Method) -> Self {
        Self {
            id,
            method,
            status: Status::Unknown,
            rows: Vec::new(),
            skipped: BTreeSet::new(),
        }
    }

    /// Adds the CPUs of a list, `0.1, 1.3`, whose rows were skipped.
    pub(super) fn skip(&mut self, cpus: &str) {
        let labels = cpus.split(", ").filter_map(|it| {
            let (cluster, core) = it.split_once('.')?;
            Some((cluster.parse().ok()?, core.parse().ok()?))
        });
        self.skipped.extend(labels.take(ROWS_MAX));
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: &RtInstr<'_>) {
        if self.rows.len() < ROWS_MAX {
            let (label, nth, values) = (line.label, 0, Some(line.values));
            self.rows.push(LineRow { label, nth, values });
        }
    }

    /// Returns the number of rows that each label has, if lines that came twice cannot
    /// be the reason. Nothing can be concluded from one label alone.
    fn rows_of_label(&self, is_table: bool) -> Option<usize> {
        let values = self.rows.iter().unique_by(|row| (row.label, row.values));
        let rows = self.rows.iter().counts_by(|row| row.label);
        let has_several = is_table || values.count() > rows.len();
        let each = rows.values().all_equal_value().ok();
        each.filter(|_| has_several && rows.len() > 1).copied()
    }

    /// Keeps `each` rows of a label: one of equal lines, and no values of lines that
    /// contradict each other.
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
}

/// Tells rows of equal labels apart: those of CPUs that share their labels in each
/// scenario, from lines that came twice. In a run with records, all labels differ, and
/// the records decide between the lines.
pub(super) fn settle(all: &mut [LineScenario], integrity: &mut Integrity) {
    let has_records = integrity.records.is_some();
    let mut each = all
        .iter()
        .filter_map(|it| it.rows_of_label(integrity.tables));
    let each = each.find(|each| *each > 1 && !has_records).unwrap_or(1);
    all.iter_mut().for_each(|it| it.keep(each, integrity));
    if has_records {
        integrity.rt_instr_wrong += std::mem::take(&mut integrity.rt_instr_ambiguous);
    }
}

/// Adds the CPUs of lines to a run without records, in the lines' order. Equal labels
/// stay equal: they are ambiguous, and no threads. A board has at most [`CPU_MAX`].
pub(super) fn add_cpus(run: &mut Run, all: &[LineScenario]) {
    let rows = all.iter().flat_map(|scenario| &scenario.rows);
    let cpus = rows.unique_by(|row| (row.label, row.nth)).map(|row| Cpu {
        cluster: row.label.0,
        core: row.label.1,
        ..Cpu::default()
    });
    run.cpus = cpus.take(CPU_MAX).collect();
}

/// Labels the CPUs at the indices `lost`, whose records are lost. If lines have just
/// as many labels of no known CPU, those are theirs, as lines and CPUs are in one
/// order. Otherwise the labels are made up, so that no two CPUs share any.
pub(super) fn label_lost_cpus(run: &mut Run, lost: &[u16], all: &[LineScenario]) {
    let threads = u16::try_from(run.threads()).unwrap_or(1);
    let known = run.cpus.iter().filter(|cpu| cpu.mpidr.is_some());
    let known = known.map(|cpu| (cpu.cluster, run.core_number(cpu)));
    let known: BTreeSet<(u16, u64)> = known.collect();
    let rows = all.iter().flat_map(|scenario| &scenario.rows);
    let labels = rows.map(|row| row.label);
    let labels = labels.filter(|it| !known.contains(&(it.0, it.1.into())));
    let mut labels: Vec<(u16, u16)> = labels.sorted().dedup().collect();
    if labels.len() != lost.len() {
        labels = lost.iter().map(|index| (u16::MAX, *index)).collect();
    }
    for (index, (cluster, number)) in lost.iter().zip(labels) {
        let cpu = &mut run.cpus[usize::from(*index)];
        (cpu.cluster, cpu.core, cpu.thread) = (cluster, number / threads, number % threads);
    }
}

/// Adds the lines of a scenario to what the records of it lack.
///
/// A damaged line may name a scenario or a CPU that there is not: no line adds a
/// figure to records that are whole.
pub(super) fn apply(run: &mut LoggedRun, lines: &LineScenario) {
    let (id, method) = (lines.id, lines.method);
    let scenarios = &mut run.run.scenarios;
    let is_own = |place: &usize| (scenarios[*place].id, scenarios[*place].method) == (id, method);
    // The scenario's placements of its helper.
    let mut group: Vec<usize> = (0..scenarios.len()).filter(is_own).collect();
    if group.is_empty() {
        if run.integrity.is_whole() {
            run.integrity.rt_instr_wrong += lines.rows.len() as u32;
            return;
        }
        group.push(scenarios.len());
        let helper = None;
        scenarios.push(Scenario::new(ScenarioKey { id, method, helper }));
    }
    for row in &lines.rows {
        run.integrity.rt_instr_wrong += u32::from(!apply_row(run, &group, row));
    }
    for place in group {
        let scenario = &mut run.run.scenarios[place];
        if run.integrity.records.is_none() {
            scenario.status = lines.status;
            add_skipped(&run.run.cpus, scenario, &lines.skipped);
        }
        scenario.rows.sort_by_key(|row| row.cpu);
    }
}

/// Adds the rows that were skipped. With a helper at two places, one of them may have the
/// CPU's row.
fn add_skipped(cpus: &[Cpu], scenario: &mut Scenario, skipped: &BTreeSet<(u16, u16)>) {
    for (index, cpu) in (0..).zip(cpus) {
        if skipped.contains(&(cpu.cluster, cpu.core)) && scenario.row(index).is_none() {
            let mut row = Row::default();
            (row.cpu, row.skipped) = (index, Some(Skip::NotStated));
            scenario.rows.push(row);
        }
    }
}

/// Adds a line's figures to the placement that the frame shows of its CPU; false if
/// they contradict the records.
fn apply_row(run: &mut LoggedRun, group: &[usize], row: &LineRow) -> bool {
    let is_whole = run.integrity.is_whole();
    let Some(cpu) = cpu_of(run, row) else {
        return false;
    };
    let scenarios = &run.run.scenarios;
    let clock = run.run.clock();
    let sound = |place: &usize| scenarios[*place].row(cpu).filter(|it| !it.is_from_line());
    let mut rows = group.iter().filter_map(sound);
    if rows.any(|own| is_of(row, &own.figures, clock)) {
        return true;
    }
    let shown = |place: &&usize| is_shown(&run.run, &scenarios[**place], cpu);
    let Some(place) = group.iter().find(shown) else {
        return !is_whole;
    };
    if is_whole || sound(place).is_some() {
        return false;
    }
    let figures = figures(row, clock);
    let scenario = &mut run.run.scenarios[*place];
    if let Some(own) = scenario.rows.iter_mut().find(|it| it.cpu == cpu) {
        own.figures = figures;
        return true;
    }
    let mut own = Row::default();
    (own.cpu, own.figures, own.helper) = (cpu, figures, scenario.helper);
    scenario.rows.push(own);
    true
}

/// Returns true if the frame can show the row of `cpu` from this placement: the
/// helper is in another cluster, if there is one.
fn is_shown(run: &Run, scenario: &Scenario, cpu: u16) -> bool {
    let own = run.cpu(cpu).cluster;
    let is_one = run.cpus.iter().all(|it| it.cluster == own);
    let can = |helper: u16| helper != cpu && (is_one || run.cpu(helper).cluster != own);
    scenario.helper.is_none_or(can)
}

/// Returns the CPU of a line.
fn cpu_of(run: &LoggedRun, row: &LineRow) -> Option<u16> {
    let label = (row.label.0, u64::from(row.label.1));
    let is_own = |cpu: &Cpu| (cpu.cluster, run.run.core_number(cpu)) == label;
    let place = run.run.cpus.iter().positions(is_own).nth(row.nth);
    place.and_then(|place| u16::try_from(place).ok())
}

/// Returns a line's figures in ticks. They were truncated to nanoseconds: up to
/// 1 GHz the least number of ticks that makes them is the one that was meant.
fn figures(row: &LineRow, clock: Clock) -> Figures {
    let ticks = |ns: u64| {
        let ticks = (u128::from(ns) * u128::from(clock.hz)).div_ceil(1_000_000_000);
        u64::try_from(ticks).ok().filter(|_| clock.is_known())
    };
    let values = row.values.unwrap_or_default();
    let [powerdown, wakeup, cache_flush] = values.map(|ns| ns.and_then(ticks));
    Figures {
        powerdown,
        wakeup,
        cache_flush,
    }
}

/// Returns true if a line has these figures.
fn is_of(row: &LineRow, figures: &Figures, clock: Clock) -> bool {
    let own = [figures.powerdown, figures.wakeup, figures.cache_flush];
    let Some(values) = row.values else {
        return true;
    };
    values.into_iter().zip(own).all(|(ns, own)| match own {
        Some(ticks) => clock.ns(ticks) == ns,
        // Standby has no cache flush, and the line a place for it.
        None => matches!(ns, None | Some(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line's cluster, core, and value.
    type Line = (u16, u16, u64);

    /// Settles lines; returns the places and values of their rows, and the number of
    /// ambiguous lines.
    fn settled(scenarios: &[&[Line]]) -> (Vec<(usize, u64)>, u32) {
        let mut integrity = Integrity::default();
        let lines = |rows: &&[Line]| {
            let mut lines = LineScenario::new(ScenarioId::PsciVersionParallel, Method::Tftf);
            for &(cluster, core, value) in *rows {
                let values = [Some(value), None, None];
                let (tag, label) = ("test_x", (cluster, core));
                lines.add(&RtInstr { tag, label, values });
            }
            lines
        };
        let mut all: Vec<LineScenario> = scenarios.iter().map(lines).collect();
        settle(&mut all, &mut integrity);
        let plain = |row: &LineRow| (row.nth, row.values.and_then(|it| it[0]).unwrap_or(0));
        let rows = all
            .iter()
            .flat_map(|it| it.rows.iter().map(plain))
            .collect();
        (rows, integrity.rt_instr_ambiguous)
    }

    #[test]
    fn equal_lines_are_one_cpu_and_contradictory_ones_none() {
        let both = [(0, 0, 7), (0, 0, 8), (1, 0, 9), (1, 0, 6)];
        let several = [(0, 7), (1, 8), (0, 9), (1, 6)];
        let (alike, three) = ([(0, 0, 80); 2], [&both[..], &[(1, 0, 6)]].concat());
        // The third is the whole of it again, as when a terminal is logged twice.
        for (lines, rows, ambiguous) in [
            (
                &[&[(0, 0, 7), (0, 0, 7), (0, 1, 9)][..]][..],
                &[(0, 7), (0, 9)][..],
                0,
            ),
            (&[&[(0, 0, 7), (0, 0, 77), (0, 1, 9)]], &[(0, 0), (0, 9)], 1),
            (
                &[&[(0, 0, 7), (0, 1, 9), (0, 0, 7), (0, 1, 9)]],
                &[(0, 7), (0, 9)],
                0,
            ),
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
