//! What lines without a checksum tell of scenarios: figures, findings, and how
//! they ended.

use std::collections::BTreeMap;

use psci_bench::measure::Metric;
use psci_bench::plan::{Method, ScenarioId};

use super::plain_line::{self, RtInstr};
use crate::report::model::{Cpu, Integrity, Row, Run, Status, Term, Test};

/// The most rows of a scenario that are taken: more are not of this world.
const ROWS_MAX: usize = 4096;

/// What lines tell of a scenario.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) scenario: Term<ScenarioId>,
    pub(super) method: Term<Method>,
    pub(super) status: Status,
    pub(super) rows: Vec<ToldRow>,
    /// Each with the label of the CPU that stayed awake in what it is of.
    pub(super) findings: Vec<(Option<String>, String)>,
}

/// A CPU's figures in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct ToldRow {
    cluster: u32,
    core: u32,
    /// How many rows before have the same labels: on a machine whose cores
    /// have threads, TFTF's do.
    thread: u32,
    /// None: lines differ in them.
    values: Option<[Option<u64>; 3]>,
}

impl Told {
    /// Whether it is of the scenario with this name.
    pub(super) fn is(&self, name: &str, warm: bool) -> bool {
        let method = if warm { Method::Warm } else { Method::Tftf };
        plain_line::scenario(name).is_some_and(|id| self.scenario.is(id)) && self.method.is(method)
    }

    /// Takes a line in.
    pub(super) fn line(&mut self, row: &RtInstr<'_>) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(ToldRow {
                cluster: row.cluster,
                core: row.core,
                thread: 0,
                values: Some(row.values),
            });
        }
    }

    /// How many rows each of its labels has, where all have as many.
    fn rows_each(&self) -> Option<usize> {
        let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for row in &self.rows {
            *counts.entry(row.label()).or_default() += 1;
        }
        let mut counts = counts.into_values();
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// Whether a row has a label of one before, and says something else.
    fn says_two_things(&self) -> bool {
        let mut first = BTreeMap::new();
        let mut rows = self.rows.iter();
        rows.any(|row| *first.entry(row.label()).or_insert(row.values) != row.values)
    }

    /// Leaves `each` rows of a label, the `threads` of a core: of lines that are
    /// alike one, and none of the values of those that are not.
    fn settle(&mut self, each: usize, integrity: &mut Integrity) {
        let mut kept: BTreeMap<(u32, u32), Vec<ToldRow>> = BTreeMap::new();
        for mut row in std::mem::take(&mut self.rows) {
            let own = kept.entry(row.label()).or_default();
            if own.len() < each {
                row.thread = u32::try_from(own.len()).unwrap_or(u32::MAX);
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

impl ToldRow {
    fn label(&self) -> (u32, u32) {
        (self.cluster, self.core)
    }
}

/// Tells rows of the same labels apart: a core's threads, which every core has
/// in every scenario, from lines that came twice. In a run with records, where
/// all labels differ, there are no threads of this kind.
pub(super) fn settle(told: &mut [Told], has_records: bool, integrity: &mut Integrity) {
    let threads = |told: &Told| {
        let each = told.rows_each().filter(|_| told.says_two_things())?;
        // Of one label alone nothing can be said of all.
        (each > 1).then_some(each)
    };
    let each = told.iter().find_map(threads).filter(|_| !has_records);
    for told in told {
        told.settle(each.unwrap_or(1), integrity);
    }
    if has_records {
        // These are what lines are held against.
        integrity.rt_instr_wrong += std::mem::take(&mut integrity.rt_instr_ambiguous);
    }
}

/// The CPUs that lines name, where there is no record of one.
pub(super) fn cpus_of_rows(run: &mut Run, told: &[Told]) {
    let mut cpus: Vec<(u32, u32, u32)> = told
        .iter()
        .flat_map(|told| &told.rows)
        .map(|row| (row.cluster, row.core, row.thread))
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    run.cpus = cpus
        .into_iter()
        .map(|(cluster, core, thread)| Cpu {
            cluster,
            core,
            thread,
            ..Cpu::default()
        })
        .collect();
}

/// Adds what lines tell of a scenario, where records do not.
///
/// A line that has suffered may name a scenario or a CPU that there is not:
/// beside records that are whole no line adds a figure, and beside others only
/// to scenarios that are known.
pub(super) fn tell(run: &mut Run, told: Told) {
    let has_records = run.integrity.records.is_some();
    let same = |test: &Test| test.scenario == told.scenario && test.method == told.method;
    let first = match run.tests.iter().position(same) {
        Some(at) => at,
        None if has_records && (run.integrity.is_whole() || told.scenario.known().is_none()) => {
            run.integrity.rt_instr_wrong += u32::try_from(told.rows.len()).unwrap_or(u32::MAX);
            return;
        }
        None => {
            run.tests.push(Test {
                pmf: (!told.rows.is_empty()).then_some(true),
                ..Test::new(told.scenario.clone(), told.method.clone())
            });
            run.tests.len() - 1
        }
    };
    for row in &told.rows {
        tell_row(run, first, row);
    }
    let test = &mut run.tests[first];
    if test.status == Status::Unknown {
        test.status = told.status;
    }
    for (helper, finding) in told.findings {
        let at = helper.and_then(|label| placement(run, first, &label));
        if let Some(test) = run.tests.get_mut(at.unwrap_or(first)) {
            test.findings.push(finding);
        }
    }
}

/// Adds a line's figures to the scenario at `first`, or to the same one by the
/// helper that the line is of.
fn tell_row(run: &mut Run, first: usize, row: &ToldRow) {
    let Some(cpu) = cpu_of(run, row) else {
        run.integrity.rt_instr_wrong += 1;
        return;
    };
    let all = placements(run, first);
    let own = |at: &usize| run.tests[*at].row(cpu).filter(|it| it.verified);
    if all
        .iter()
        .filter_map(own)
        .any(|own| agree(run, &own.figures, row))
    {
        return;
    }
    let shown = all.into_iter().filter(|at| is_shown(run, *at, cpu));
    let Some(at) = shown.min_by_key(|at| is_same_core(run, *at, cpu)) else {
        run.integrity.rt_instr_wrong += u32::from(run.integrity.is_whole());
        return;
    };
    let figures = figures(run, row);
    let helper = run.tests[at].helper;
    let rows = &mut run.tests[at].rows;
    match rows.iter_mut().find(|it| it.cpu == cpu) {
        Some(own) if own.verified => run.integrity.rt_instr_wrong += 1,
        _ if run.integrity.is_whole() => run.integrity.rt_instr_wrong += 1,
        Some(own) => own.figures = figures,
        None => rows.push(Row {
            cpu,
            figures,
            helper,
            ..Row::default()
        }),
    }
}

/// The tests that differ from the one at `first` in their helper alone, and it.
fn placements(run: &Run, first: usize) -> Vec<usize> {
    let Some(of) = run.tests.get(first) else {
        return Vec::new();
    };
    let same = |it: &Test| (&it.scenario, &it.method) == (&of.scenario, &of.method);
    let all = run.tests.iter().enumerate();
    all.filter(|it| same(it.1)).map(|it| it.0).collect()
}

/// Whether the frame can show the row of `cpu` from the test at `at`: the helper
/// is of another cluster, where there is one.
fn is_shown(run: &Run, at: usize, cpu: usize) -> bool {
    let cluster = |cpu: usize| run.cpus.get(cpu).map(|cpu| cpu.cluster);
    let Some(helper) = run.tests.get(at).and_then(|test| test.helper) else {
        return true;
    };
    let one_cluster = (0..run.cpus.len()).all(|it| cluster(it) == cluster(cpu));
    helper != cpu && (one_cluster || cluster(helper) != cluster(cpu))
}

/// Whether `cpu` is of the helper's core in the test at `at`.
fn is_same_core(run: &Run, at: usize, cpu: usize) -> bool {
    let core = |cpu: usize| run.cpus.get(cpu).map(|cpu| (cpu.cluster, cpu.core));
    let helper = run.tests.get(at).and_then(|test| test.helper);
    helper.is_some_and(|helper| core(helper) == core(cpu))
}

/// The test that is as the one at `first`, with the helper of this label.
fn placement(run: &Run, first: usize, label: &str) -> Option<usize> {
    let all = placements(run, first);
    let is_its = |at: &usize| {
        let helper = run.tests.get(*at).and_then(|test| test.helper);
        helper.is_some_and(|cpu| run.label(cpu) == label)
    };
    all.into_iter().find(is_its)
}

/// The CPU of a line.
fn cpu_of(run: &Run, row: &ToldRow) -> Option<usize> {
    let has_records = run.integrity.records.is_some();
    run.cpus.iter().position(|cpu| {
        let core = if has_records {
            run.core_number(cpu) == u64::from(row.core) && row.thread == 0
        } else {
            (cpu.core, cpu.thread) == (row.core, row.thread)
        };
        cpu.cluster == row.cluster && core
    })
}

/// The metrics of a line's values.
fn metrics(values: &[Option<u64>; 3]) -> &'static [Metric] {
    match values {
        [_, None, None] => &[Metric::Latency],
        _ => &[Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush],
    }
}

/// A line's figures in ticks. They were truncated to nanoseconds: at up to
/// 1 GHz the least number of ticks that makes them is the one that was meant.
fn figures(run: &Run, row: &ToldRow) -> Vec<(Term<Metric>, u64)> {
    let hz = u128::from(run.clock().hz);
    let ticks = |ns: u64| u64::try_from((u128::from(ns) * hz).div_ceil(1_000_000_000)).ok();
    let values = row.values.iter().flat_map(|it| metrics(it).iter().zip(*it));
    values
        .filter_map(|(metric, ns)| Some((Term::Known(*metric), ticks(ns?)?)))
        .filter(|_| run.clock().is_known())
        .collect()
}

/// Whether a line says what the records do.
fn agree(run: &Run, figures: &[(Term<Metric>, u64)], row: &ToldRow) -> bool {
    let mut values = row.values.iter().flat_map(|it| metrics(it).iter().zip(*it));
    values.all(|(metric, ns)| {
        let own = figures.iter().find(|figure| figure.0.is(*metric));
        // Standby has no cache flush, and the line a place for it.
        own.map_or(ns == Some(0), |own| run.ns(own.1) == ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row's cluster, core, thread, and first value.
    type Plain = (u32, u32, u32, u64);

    fn settled(rows: &[&[(u32, u32, u64)]]) -> (Vec<Vec<Plain>>, (u32, u32)) {
        let mut integrity = Integrity::default();
        let told = |rows: &&[(u32, u32, u64)]| {
            let mut told = Told {
                scenario: Term::of("test_x"),
                method: Term::Known(Method::Tftf),
                status: Status::Unknown,
                rows: Vec::new(),
                findings: Vec::new(),
            };
            for (cluster, core, value) in *rows {
                told.line(&RtInstr {
                    tag: "test_x",
                    cluster: *cluster,
                    core: *core,
                    values: [Some(*value), None, None],
                });
            }
            told
        };
        let mut all: Vec<Told> = rows.iter().map(told).collect();
        settle(&mut all, false, &mut integrity);
        let plain = |row: &ToldRow| {
            let value = row.values.and_then(|it| it[0]).unwrap_or(0);
            (row.cluster, row.core, row.thread, value)
        };
        let rows = all.iter().map(|told| told.rows.iter().map(plain).collect());
        let counts = (integrity.rt_instr_repeated, integrity.rt_instr_ambiguous);
        (rows.collect(), counts)
    }

    #[test]
    fn a_line_that_came_twice_is_no_cpu() {
        let (rows, counts) = settled(&[&[(0, 0, 7), (0, 0, 7), (0, 1, 9)]]);
        assert_eq!(rows, [[(0, 0, 0, 7), (0, 1, 0, 9)]]);
        assert_eq!(counts, (1, 0));
        // The whole of it again, as when a terminal is logged twice.
        let (rows, counts) = settled(&[&[(0, 0, 7), (0, 1, 9), (0, 0, 7), (0, 1, 9)]]);
        assert_eq!((rows[0].len(), counts), (2, (2, 0)));
        // Which of the two is right can not be told.
        let (rows, counts) = settled(&[&[(0, 0, 7), (0, 0, 77), (0, 1, 9)]]);
        assert_eq!(rows, [[(0, 0, 0, 0), (0, 1, 0, 9)]]);
        assert_eq!(counts, (0, 1));
    }

    #[test]
    fn threads_are_what_every_core_has() {
        let both = [(0, 0, 7), (0, 0, 8), (1, 0, 9), (1, 0, 6)];
        let alike = [(0, 0, 80), (0, 0, 80), (1, 0, 80), (1, 0, 80)];
        let (rows, counts) = settled(&[&alike, &both]);
        for rows in &rows {
            let threads: Vec<u32> = rows.iter().map(|row| row.2).collect();
            assert_eq!(threads, [0, 1, 0, 1]);
        }
        assert_eq!(counts, (0, 0));
        let three = [&both[..], &[(1, 0, 6)]].concat();
        let (rows, counts) = settled(&[&both, &three]);
        assert_eq!((rows[1].len(), counts), (4, (1, 0)));
    }
}
