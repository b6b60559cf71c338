//! Several runs of one board as one table: CPUs by their MPIDR.
//!
//! Where every run has sent all its samples, these are put together, and have
//! statistics of their own. Else the figures that the runs show stand beside
//! each other, which is never made a statistic of samples: a parallel row is
//! one part of one round.

use std::fmt;

use psci_bench::measure::{Metric, Summary};
use psci_bench::plan::{Method, ScenarioId};

use super::compare::question::{OF_TIMERS, waker};
use crate::report::model::{Cpu, Measured, Row, Run, Source, Term, Test};

/// Several runs of one board.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Where the runs were read, in their order.
    pub sources: Vec<Source>,
    /// The board's CPUs.
    pub cpus: Vec<Cpu>,
    /// The scenarios that any of the runs has.
    pub tests: Vec<MergedTest>,
}

/// A scenario in several runs.
#[derive(Clone, Debug)]
pub struct MergedTest {
    /// Which one.
    pub scenario: Term<ScenarioId>,
    /// By which method.
    pub method: Term<Method>,
    /// The CPU that stayed awake for the others, by its index.
    pub helper: Option<usize>,
    /// The `power_state` that was asked for.
    pub power_state: Option<u32>,
    /// One for each CPU and metric, CPUs first.
    pub rows: Vec<MergedRow>,
    /// One for each point that any of the runs has.
    pub points: Vec<MergedPoint>,
}

/// A point in several runs.
#[derive(Clone, Debug)]
pub struct MergedPoint {
    /// The point, as the first run that has it shows it.
    pub point: Measured,
    /// Its statistics in each run: of the same number of operations a sample,
    /// or there is none.
    pub shown: Vec<Option<Summary>>,
}

/// A figure of a CPU in several runs. Durations are in ticks.
#[derive(Clone, Debug)]
pub struct MergedRow {
    /// Index into [`Merged::cpus`].
    pub cpu: usize,
    /// Which figure.
    pub metric: Term<Metric>,
    /// What each run shows.
    pub shown: Vec<Option<u64>>,
    /// Whether that is from a line without a checksum.
    pub doubtful: Vec<bool>,
    /// Statistics of the samples of all runs; None unless all have sent all.
    pub pooled: Option<Summary>,
}

/// Why two runs are not merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The runs.
    pub sources: (Source, Source),
    /// What they differ in.
    pub what: String,
    /// What it is in each.
    pub values: (String, String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = &self.sources;
        let (x, y) = &self.values;
        write!(
            f,
            "cannot merge {} (run {}) and {} (run {}): {} is {x} in the first and {y} in the \
             second; report them apart, without --merge",
            a.input, a.place, b.input, b.place, self.what
        )
    }
}

impl std::error::Error for Refusal {}

/// Takes out of `runs` what is there already, to the last tick: one run that
/// was named twice, or a machine that repeats itself. Its samples would count
/// twice and tell nothing new. Gives what was taken out, with what it repeats.
pub fn take_repeats(runs: &mut Vec<Run>) -> Vec<(Source, Source)> {
    let mut kept: Vec<Run> = Vec::new();
    let mut repeats = Vec::new();
    for run in runs.drain(..) {
        match kept.iter().find(|it| is_repeat(&run, it)) {
            Some(first) => repeats.push((run.source, first.source.clone())),
            None => kept.push(run),
        }
    }
    *runs = kept;
    repeats
}

/// Whether `run` is `other` again, to the last tick.
pub(crate) fn is_repeat(run: &Run, other: &Run) -> bool {
    !run.tests.is_empty() && other.tests == run.tests && comparable(other, run).is_ok()
}

/// Merges `runs`.
///
/// # Errors
/// The first thing in which a run differs from the first one, so that their
/// figures are not of one question: the board, its counter or CPUs, the
/// firmware, the method, the wake-up pattern, what wakes the CPUs, a
/// `power_state`.
pub fn merge(runs: &[Run]) -> Result<Merged, Box<Refusal>> {
    let Some((first, others)) = runs.split_first() else {
        return Ok(Merged {
            sources: Vec::new(),
            cpus: Vec::new(),
            tests: Vec::new(),
        });
    };
    for other in others {
        comparable(first, other)?;
    }
    let mut tests: Vec<MergedTest> = Vec::new();
    for test in runs.iter().flat_map(|run| &run.tests) {
        let same = |it: &MergedTest| {
            (&it.scenario, &it.method, it.helper) == (&test.scenario, &test.method, test.helper)
        };
        if !tests.iter().any(same) {
            tests.push(merged(runs, first, test));
        }
    }
    Ok(Merged {
        sources: runs.iter().map(|run| run.source.clone()).collect(),
        cpus: first.cpus.clone(),
        tests,
    })
}

/// The test of `run` that is by the same method as `test`.
fn of<'r>(run: &'r Run, test: &Test) -> Option<&'r Test> {
    run.tests.iter().find(|it| it.is_same(test))
}

fn comparable(a: &Run, b: &Run) -> Result<(), Box<Refusal>> {
    let refusal = |what: &str, x: String, y: String| {
        Box::new(Refusal {
            sources: (a.source.clone(), b.source.clone()),
            what: what.to_owned(),
            values: (x, y),
        })
    };
    let check = |what: &str, of: &dyn Fn(&Run) -> String| match (of(a), of(b)) {
        (x, y) if x == y => Ok(()),
        (x, y) => Err(refusal(what, x, y)),
    };
    let or = |text: Option<&str>| text.unwrap_or("not known").to_owned();
    check("the board", &|run| or(run.model.as_deref()))?;
    // Lines have nanoseconds, whatever the counter was: that is in a record.
    check("the counter's frequency", &|run| match run.facts.hz {
        Some(hz) if hz > 0 => hz.to_string(),
        _ => "not known".to_owned(),
    })?;
    check("the list of CPUs", &|run| {
        let names = run.cpus.iter().map(|cpu| match cpu.mpidr {
            Some(mpidr) => format!("{mpidr:#x}"),
            None => format!("{}.{}.{}", cpu.cluster, cpu.core, cpu.thread),
        });
        names.collect::<Vec<_>>().join(" ")
    })?;
    check("the firmware", &|run| or(run.firmware_version()))?;
    check("the exception level", &|run| format!("{:?}", run.facts.el))?;
    check("the method", &|run| {
        let mut methods: Vec<&str> = run.tests.iter().map(|test| test.method.word()).collect();
        methods.sort_unstable();
        methods.dedup();
        methods.join(",")
    })?;
    check("the wake-up pattern", &|run| {
        or(run.plan.wake.as_ref().map(Term::word))
    })?;
    woken_alike(a, b)?;
    for test in &a.tests {
        let Some(other) = of(b, test) else { continue };
        if test.scenario.is(ScenarioId::TimerLatency) {
            for (key, _) in OF_TIMERS {
                let what = format!("{key}= of {}", test.scenario.word());
                check(&what, &|run| or(run.plan.other(key)))?;
            }
        }
        let state = |test: &Test| match test.power_state {
            Some(state) => format!("{state:#010x}"),
            None => "not known".to_owned(),
        };
        let differ = test.power_state != other.power_state;
        if differ && !test.rows.is_empty() && !other.rows.is_empty() {
            let what = format!("power_state of {}", test.scenario.word());
            return Err(refusal(&what, state(test), state(other)));
        }
        if differ_in_pmf(test, other) {
            let what = format!("what {} was measured by", test.scenario.word());
            let by = |test: &Test| match test.pmf {
                Some(true) => "PMF".to_owned(),
                _ => "the caller".to_owned(),
            };
            return Err(refusal(&what, by(test), by(other)));
        }
    }
    Ok(())
}

/// Refuses two runs if the CPUs of a scenario have other wake-up sources in each.
fn woken_alike(a: &Run, b: &Run) -> Result<(), Box<Refusal>> {
    // The source is in a scenario's own record, with the samples asked for.
    let known = |it: &&Test| it.asked.is_some() && it.has_figures();
    for test in a.tests.iter().filter(known) {
        let same = |it: &&Test| (&it.scenario, &it.method) == (&test.scenario, &test.method);
        let mut others = b.tests.iter().filter(same).filter(known).peekable();
        let Some(other) = others.peek().copied() else {
            continue;
        };
        if !others.any(|it| it.wake_source == test.wake_source) {
            return Err(Box::new(Refusal {
                sources: (a.source.clone(), b.source.clone()),
                what: format!("what wakes the CPUs in {}", test.scenario.word()),
                values: (waker(a, test), waker(b, other)),
            }));
        }
    }
    Ok(())
}

fn differ_in_pmf(a: &Test, b: &Test) -> bool {
    matches!((a.pmf, b.pmf), (Some(a), Some(b)) if a != b)
}

fn merged(runs: &[Run], first: &Run, test: &Test) -> MergedTest {
    let tests: Vec<Option<&Test>> = runs.iter().map(|run| of(run, test)).collect();
    let there = || tests.iter().flatten();
    let mut columns: Vec<Term<Metric>> = Vec::new();
    for metric in there().flat_map(|test| test.columns()) {
        if !columns.contains(&metric) {
            columns.push(metric);
        }
    }
    let mut rows = Vec::new();
    for cpu in 0..first.cpus.len() {
        for metric in &columns {
            let of = |test: &Option<&Test>| test.and_then(|test| test.row(cpu)?.figure(metric));
            let shown: Vec<Option<u64>> = tests.iter().map(of).collect();
            let pairs = runs.iter().zip(&tests);
            let doubtful = pairs.map(|(run, test)| {
                let row = test.and_then(|test| test.row(cpu));
                row.is_some_and(|row| run.is_doubtful(row))
            });
            if shown.iter().any(Option::is_some) {
                rows.push(MergedRow {
                    doubtful: doubtful.collect(),
                    cpu,
                    metric: metric.clone(),
                    shown,
                    pooled: pooled(&tests, cpu, metric),
                });
            }
        }
    }
    MergedTest {
        scenario: test.scenario.clone(),
        method: test.method.clone(),
        helper: test.helper,
        power_state: there().find_map(|test| test.power_state),
        rows,
        points: points(&tests),
    }
}

/// The points of all `tests`, whose runs have the same CPUs.
fn points(tests: &[Option<&Test>]) -> Vec<MergedPoint> {
    let mut all: Vec<MergedPoint> = Vec::new();
    let same = |a: &Measured, b: &Measured| a.cpu == b.cpu && a.is_of_kind(b);
    for point in tests.iter().flatten().flat_map(|test| &test.points) {
        if all.iter().any(|it| same(&it.point, point)) {
            continue;
        }
        let of = |test: &Option<&Test>| {
            let found = test.and_then(|test| test.points.iter().find(|it| same(it, point)));
            found.map(|it| it.summary)
        };
        all.push(MergedPoint {
            point: point.clone(),
            shown: tests.iter().map(of).collect(),
        });
    }
    all
}

/// Statistics of the samples of all `tests`.
fn pooled(tests: &[Option<&Test>], cpu: usize, metric: &Term<Metric>) -> Option<Summary> {
    let known = metric.known()?;
    let mut all = Vec::new();
    for row in tests.iter().flatten().map(|test| test.row(cpu)) {
        let row: &Row = row?;
        // Every sample, or it would be a statistic of what came through.
        if row.samples.is_empty() || row.valid != u32::try_from(row.samples.len()).ok() {
            return None;
        }
        for sample in &row.samples {
            all.push(sample.instants.figure(known)?);
        }
    }
    Some(Summary::of(&mut all))
}

#[cfg(test)]
mod tests {
    use psci_bench::model::WakeSource;

    use super::*;
    use crate::report::log::read_bytes;

    const QEMU: &[u8] = include_bytes!("../../../tests/data/report/qemu-4cpu.log");

    fn run() -> Run {
        let mut runs = read_bytes("a.log", QEMU).expect("a run");
        runs.remove(0)
    }

    #[test]
    fn samples_are_put_together() {
        let merged = merge(&[run(), run(), run()]).expect("one board");
        assert_eq!((merged.tests.len(), merged.cpus.len()), (6, 4));
        let row = &merged.tests[0].rows[0];
        assert_eq!((row.cpu, row.shown.len()), (0, 3));
        assert_eq!(row.pooled.map(|it| it.n), Some(6));

        // Without one of them it would not be all.
        let mut lossy = run();
        lossy.tests[0].rows[0].samples.pop();
        let merged = merge(&[run(), lossy]).expect("one board");
        assert_eq!(merged.tests[0].rows[0].pooled, None);
        let mut short = run();
        short.tests.truncate(1);
        let merged = merge(&[short, run()]).expect("one board");
        assert_eq!(merged.tests.len(), 6);
        assert_eq!(merged.tests[5].rows[0].shown[0], None);
        assert!(merge(&[]).is_ok_and(|none| none.tests.is_empty()));
    }

    #[test]
    fn timers_of_another_period_are_refused() {
        let of = |period: &str| {
            let mut run = run();
            run.tests[0].scenario = Term::Known(ScenarioId::TimerLatency);
            run.plan.others.push(("period".into(), period.into()));
            run
        };
        assert!(merge(&[of("1000"), of("1000")]).is_ok());
        let refusal = merge(&[of("1000"), of("100")]).expect_err("another question");
        assert_eq!(refusal.what, "period= of timer_latency");
        // Without timers it says nothing.
        let mut other = [of("1000"), of("100")];
        for run in &mut other {
            run.tests.remove(0);
        }
        assert!(merge(&other).is_ok());
    }

    #[test]
    fn other_wake_up_sources_are_refused() {
        let by = |helper: Option<usize>, source: WakeSource| {
            let mut run = run();
            (run.tests[0].helper, run.tests[0].wake_source) = (helper, source);
            run
        };
        let own = by(None, WakeSource::OwnTimers);
        for other in [
            by(None, WakeSource::Frame),
            by(None, WakeSource::Helper),
            by(Some(0), WakeSource::Helper),
        ] {
            let refusal = merge(&[own.clone(), other.clone()]).expect_err("other sources");
            let tag = own.tests[0].scenario.word();
            assert_eq!(refusal.what, format!("what wakes the CPUs in {tag}"));
            assert_eq!(refusal.values.0, "timer");
            assert!(merge(&[other.clone(), other]).is_ok());
        }
    }

    #[test]
    fn a_run_counts_once() {
        let mut other = run();
        other.tests[0].rows[0].figures[0].1 += 1;
        let mut later = run();
        later.source.place = 2;
        let mut runs = vec![run(), other, later];
        let repeats = take_repeats(&mut runs);
        let places: Vec<_> = repeats.iter().map(|it| (it.0.place, it.1.place)).collect();
        assert_eq!((runs.len(), places), (2, vec![(2, 1)]));
    }

    #[test]
    fn what_is_not_verified_stays_so() {
        let mut lossy = run();
        lossy.tests[0].rows[1].verified = false;
        let merged = merge(&[run(), lossy]).expect("one board");
        let doubtful = |cpu| {
            let mut rows = merged.tests[0].rows.iter();
            let row = rows.find(|it| it.cpu == cpu).expect("it is there");
            row.doubtful.clone()
        };
        assert_eq!(
            (doubtful(0), doubtful(1)),
            (vec![false; 2], vec![false, true])
        );
    }

    #[test]
    fn what_is_not_one_question_is_refused_by_name() {
        let refused = |edit: fn(&mut Run)| {
            let mut other = run();
            edit(&mut other);
            match merge(&[run(), other]) {
                Ok(_) => String::new(),
                Err(refusal) => refusal.what,
            }
        };
        assert_eq!(refused(|_| {}), "");
        assert_eq!(refused(|run| run.model = None), "the board");
        assert_eq!(
            refused(|run| run.facts.hz = Some(1_000_000)),
            "the counter's frequency"
        );
        let hung = |run: &mut Run| {
            run.facts.hz = None;
            run.integrity.records = None;
        };
        let mut other = run();
        hung(&mut other);
        let refusal = merge(&[run(), other]).expect_err("other frequencies");
        assert_eq!(refusal.values.1, "not known");
        assert_eq!(
            refused(|run| run.cpus[3].mpidr = Some(0x103)),
            "the list of CPUs"
        );
        assert_eq!(refused(|run| run.firmware.clear()), "the firmware");
        assert_eq!(
            refused(|run| run.tests[2].method = Term::Known(Method::Warm)),
            "the method"
        );
        assert_eq!(
            refused(|run| run.tests[1].power_state = Some(2)),
            "power_state of test_rt_instr_susp_deep_serial"
        );
        assert_eq!(
            refused(|run| run.tests[1].pmf = Some(false)),
            "what test_rt_instr_susp_deep_serial was measured by"
        );
    }
}
