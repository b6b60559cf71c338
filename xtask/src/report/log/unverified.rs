//! Figures and results from lines without a checksum.

use std::collections::{BTreeMap, BTreeSet};

use psci_bench::model::{Cpu, Figures, Row, Run, Scenario, ScenarioKey, Status};
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::spec::ticks::Clock;

use super::integrity::Integrity;
use super::logged_run::LoggedRun;
use super::plain_line::RtInstr;

/// The most rows of a scenario: 512 CPUs have four copies of them.
const ROWS_MAX: usize = 4096;

/// The lines of a scenario.
#[derive(Debug)]
pub(super) struct LineScenario {
    pub(super) id: ScenarioId,
    pub(super) method: Method,
    pub(super) status: Status,
    rows: Vec<LineRow>,
}

/// A CPU's figures in nanoseconds.
#[derive(Clone, Debug)]
struct LineRow {
    cluster: u16,
    core: u16,
    /// The number of rows before with the same labels: TFTF's lines do not name
    /// threads.
    thread: u16,
    /// None if lines contradict each other.
    values: Option<[Option<u64>; 3]>,
}

impl LineRow {
    fn label(&self) -> (u16, u16) {
        (self.cluster, self.core)
    }
}

impl LineScenario {
    pub(super) fn new(id: ScenarioId, method: Method) -> Self {
        Self {
            id,
            method,
            status: Status::Unknown,
            rows: Vec::new(),
        }
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: &RtInstr<'_>) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(LineRow {
                cluster: line.cluster,
                core: line.core,
                thread: 0,
                values: Some(line.values),
            });
        }
    }

    /// Returns the number of rows of each label, if all labels have the same.
    fn rows_each(&self) -> Option<usize> {
        let mut counts: BTreeMap<(u16, u16), usize> = BTreeMap::new();
        for row in &self.rows {
            *counts.entry(row.label()).or_default() += 1;
        }
        let mut counts = counts.into_values();
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// Returns true if two rows of a label have different values.
    fn contradicts_itself(&self) -> bool {
        let mut first = BTreeMap::new();
        let mut rows = self.rows.iter();
        rows.any(|row| *first.entry(row.label()).or_insert(row.values) != row.values)
    }

    /// Keeps `each` rows of a label, the threads of a core: one of equal lines, and
    /// no values of lines that contradict each other.
    fn keep(&mut self, each: usize, integrity: &mut Integrity) {
        let mut kept: BTreeMap<(u16, u16), Vec<LineRow>> = BTreeMap::new();
        for mut row in std::mem::take(&mut self.rows) {
            let own = kept.entry(row.label()).or_default();
            if own.len() < each {
                row.thread = u16::try_from(own.len()).unwrap_or(u16::MAX);
                own.push(row);
            } else if own.iter().any(|it| it.values == row.values) {
                integrity.rt_instr_repeated += 1;
            } else {
                integrity.rt_instr_ambiguous += 1;
                own.iter_mut().for_each(|it| it.values = None);
            }
        }
        self.rows = kept.into_values().flatten().collect();
    }
}

/// Tells rows of equal labels apart: the threads of a core, which each core has in
/// each scenario, from lines that came twice. In a run with records, all labels
/// differ.
pub(super) fn settle(all: &mut [LineScenario], integrity: &mut Integrity) {
    let has_records = integrity.records.is_some();
    let threads = |scenario: &LineScenario| {
        let is_told = scenario.contradicts_itself();
        let each = scenario.rows_each().filter(|_| is_told)?;
        // Nothing can be concluded from one label alone.
        (each > 1).then_some(each)
    };
    let each = all.iter().find_map(threads).filter(|_| !has_records);
    for scenario in all {
        scenario.keep(each.unwrap_or(1), integrity);
    }
    if has_records {
        // The records decide between the lines.
        integrity.rt_instr_wrong += std::mem::take(&mut integrity.rt_instr_ambiguous);
    }
}

/// Adds the CPUs of lines to a run without records.
pub(super) fn add_cpus(run: &mut Run, all: &[LineScenario]) {
    let rows = all.iter().flat_map(|scenario| &scenario.rows);
    let cpus: BTreeSet<(u16, u16, u16)> = rows
        .map(|row| (row.cluster, row.core, row.thread))
        .collect();
    let cpus = cpus.into_iter().map(|(cluster, core, thread)| Cpu {
        cluster,
        core,
        thread,
        ..Cpu::default()
    });
    run.cpus = cpus.collect();
}

/// Labels the CPUs at the indices `lost`, whose records are lost. If lines have just
/// as many labels of no known CPU, those are theirs, as lines and CPUs are in one
/// order. Otherwise the labels are made up, so that no two CPUs share any.
pub(super) fn label_lost_cpus(run: &mut Run, lost: &[u16], all: &[LineScenario]) {
    let threads = run.threads();
    let known = |label: &(u16, u16)| {
        let mut cpus = run.cpus.iter().filter(|cpu| cpu.mpidr.is_some());
        cpus.any(|cpu| cpu.cluster == label.0 && run.core_number(cpu) == u64::from(label.1))
    };
    let rows = all.iter().flat_map(|scenario| &scenario.rows);
    let labels: BTreeSet<(u16, u16)> = rows
        .map(LineRow::label)
        .filter(|label| !known(label))
        .collect();
    let threads = u16::try_from(threads).unwrap_or(1);
    let labels: Vec<(u16, u16)> = if labels.len() == lost.len() {
        labels.into_iter().collect()
    } else {
        lost.iter().map(|index| (u16::MAX, *index)).collect()
    };
    for (index, (cluster, number)) in lost.iter().zip(labels) {
        if let Some(cpu) = run.cpus.get_mut(usize::from(*index)) {
            *cpu = Cpu {
                cluster,
                core: number / threads,
                thread: number % threads,
                ..*cpu
            };
        }
    }
}

/// Adds the lines of a scenario to what the records of it lack.
///
/// A damaged line may name a scenario or a CPU that there is not: no line adds a
/// figure to records that are whole.
pub(super) fn apply(run: &mut LoggedRun, lines: &LineScenario) {
    let mut group = group_of(&run.run, lines);
    if group.is_empty() {
        if run.integrity.is_whole() {
            run.integrity.rt_instr_wrong += lines.rows.len() as u32;
            return;
        }
        group.push(run.run.scenarios.len());
        run.run.scenarios.push(Scenario::new(ScenarioKey {
            id: lines.id,
            method: lines.method,
            helper: None,
        }));
    }
    for row in &lines.rows {
        apply_row(run, &group, row);
    }
    for place in group {
        let scenario = &mut run.run.scenarios[place];
        scenario.rows.sort_by_key(|row| row.cpu);
        if scenario.status == Status::Unknown {
            scenario.status = lines.status;
        }
    }
}

/// Returns the places of a scenario's placements of its helper.
fn group_of(run: &Run, lines: &LineScenario) -> Vec<usize> {
    let scenarios = run.scenarios.iter().enumerate();
    let own = scenarios.filter(|(_, it)| it.id == lines.id && it.method == lines.method);
    own.map(|(place, _)| place).collect()
}

/// Adds a line's figures to the placement that the frame shows of its CPU.
fn apply_row(run: &mut LoggedRun, group: &[usize], row: &LineRow) {
    let is_whole = run.integrity.is_whole();
    let Some(cpu) = cpu_of(run, row) else {
        run.integrity.rt_instr_wrong += 1;
        return;
    };
    let scenarios = &run.run.scenarios;
    let clock = run.run.clock();
    let sound = |place: &usize| scenarios[*place].row(cpu).filter(|it| !it.is_from_line());
    let mut rows = group.iter().filter_map(sound);
    if rows.any(|own| is_of(row, &own.figures, clock)) {
        return;
    }
    let shown = |place: &&usize| is_shown(&run.run, &scenarios[**place], cpu);
    let Some(place) = group.iter().find(shown) else {
        run.integrity.rt_instr_wrong += u32::from(is_whole);
        return;
    };
    if is_whole || sound(place).is_some() {
        run.integrity.rt_instr_wrong += 1;
        return;
    }
    let figures = figures(row, clock);
    let scenario = &mut run.run.scenarios[*place];
    match scenario.rows.iter_mut().find(|it| it.cpu == cpu) {
        Some(own) => own.figures = figures,
        None => scenario.rows.push(Row {
            cpu,
            figures,
            helper: scenario.helper,
            ..Row::default()
        }),
    }
}

/// Returns true if the frame can show the row of `cpu` from this placement: the
/// helper is in another cluster, if there is one.
fn is_shown(run: &Run, scenario: &Scenario, cpu: u16) -> bool {
    let Some(helper) = scenario.helper else {
        return true;
    };
    let own = run.cpu(cpu).cluster;
    let is_one = run.cpus.iter().all(|it| it.cluster == own);
    helper != cpu && (is_one || run.cpu(helper).cluster != own)
}

/// Returns the CPU of a line.
fn cpu_of(run: &LoggedRun, row: &LineRow) -> Option<u16> {
    let has_records = run.integrity.records.is_some();
    let is_core = |cpu: &Cpu| {
        if has_records {
            run.run.core_number(cpu) == u64::from(row.core) && row.thread == 0
        } else {
            (cpu.core, cpu.thread) == (row.core, row.thread)
        }
    };
    let mut cpus = run.run.cpus.iter();
    let place = cpus.position(|cpu| cpu.cluster == row.cluster && is_core(cpu));
    place.and_then(|place| u16::try_from(place).ok())
}

/// Returns a line's figures in ticks. They were truncated to nanoseconds: up to
/// 1 GHz the least number of ticks that makes them is the one that was meant.
fn figures(row: &LineRow, clock: Clock) -> Figures {
    let ticks = |ns: u64| {
        let ticks = (u128::from(ns) * u128::from(clock.hz)).div_ceil(1_000_000_000);
        u64::try_from(ticks).ok().filter(|_| clock.is_known())
    };
    let [powerdown, wakeup, cache_flush] = row.values.unwrap_or_default();
    Figures {
        powerdown: powerdown.and_then(ticks),
        wakeup: wakeup.and_then(ticks),
        cache_flush: cache_flush.and_then(ticks),
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

    /// A row's cluster, core, thread, and first value.
    type Plain = (u16, u16, u16, u64);

    fn settled(scenarios: &[&[(u16, u16, u64)]]) -> (Vec<Vec<Plain>>, (u32, u32)) {
        let mut integrity = Integrity::default();
        let lines = |rows: &&[(u16, u16, u64)]| {
            let mut lines = LineScenario::new(ScenarioId::PsciVersionParallel, Method::Tftf);
            for (cluster, core, value) in *rows {
                lines.add(&RtInstr {
                    tag: "test_x",
                    cluster: *cluster,
                    core: *core,
                    values: [Some(*value), None, None],
                });
            }
            lines
        };
        let mut all: Vec<LineScenario> = scenarios.iter().map(lines).collect();
        settle(&mut all, &mut integrity);
        let plain = |row: &LineRow| {
            let value = row.values.and_then(|it| it[0]).unwrap_or(0);
            (row.cluster, row.core, row.thread, value)
        };
        let rows = all.iter().map(|it| it.rows.iter().map(plain).collect());
        let counts = (integrity.rt_instr_repeated, integrity.rt_instr_ambiguous);
        (rows.collect(), counts)
    }

    #[test]
    fn repeated_lines_are_no_cpus() {
        let (rows, counts) = settled(&[&[(0, 0, 7), (0, 0, 7), (0, 1, 9)]]);
        assert_eq!(rows, [[(0, 0, 0, 7), (0, 1, 0, 9)]]);
        assert_eq!(counts, (1, 0));
        // The whole of it again, as when a terminal is logged twice.
        let (rows, counts) = settled(&[&[(0, 0, 7), (0, 1, 9), (0, 0, 7), (0, 1, 9)]]);
        assert_eq!((rows[0].len(), counts), (2, (2, 0)));
        // Neither of two different lines is taken.
        let (rows, counts) = settled(&[&[(0, 0, 7), (0, 0, 77), (0, 1, 9)]]);
        assert_eq!(rows, [[(0, 0, 0, 0), (0, 1, 0, 9)]]);
        assert_eq!(counts, (0, 1));
    }

    #[test]
    fn threads_are_on_each_core() {
        let both = [(0, 0, 7), (0, 0, 8), (1, 0, 9), (1, 0, 6)];
        let alike = [(0, 0, 80), (0, 0, 80), (1, 0, 80), (1, 0, 80)];
        let (rows, counts) = settled(&[&alike, &both]);
        for rows in &rows {
            let threads: Vec<u16> = rows.iter().map(|row| row.2).collect();
            assert_eq!(threads, [0, 1, 0, 1]);
        }
        assert_eq!(counts, (0, 0));
        let three = [&both[..], &[(1, 0, 6)]].concat();
        let (rows, counts) = settled(&[&both, &three]);
        assert_eq!((rows[1].len(), counts), (4, (1, 0)));
    }
}
