//! What a firmware's instrumentation costs: the same payload under a build
//! with PMF and under a plain one, by what the caller sees.
//!
//! Only the caller's figures are there in both runs. Not every one of them
//! may be compared, and what may not is listed with its reason:
//!
//! * Powerdown, Wakeup, Cache Flush and Latency are PMF's own.
//! * Call of a suspend includes the sleep, which is calibrated in each run.
//! * Turn Off: with PMF the lead looks seldom, so as to disturb nobody.
//! * Points of all CPUs at once: with others at work, they are about them, too.
//! * Parallel suspends: who is ahead in the queue for a lock changes with any
//!   change of the firmware, and the clock of instructions counts those of all
//!   CPUs.
//!
//! The payload reads PMF's timestamps behind the timed region, so that what
//! it does itself for them is in no figure here.

use anyhow::{Result, bail, ensure};
use psci_bench::measure::{Metric, Summary};
use psci_bench::model::{How, Measure};
use psci_bench::plan::{Method, ScenarioId, TAG_PREFIX};

use super::compare::noise::notch;

use crate::report::model::words::span;
use crate::report::model::{LOOP, Measured, Run, Term, Test, measure_heading};

/// What figures are told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, or ticks where the counter's frequency is not known.
    Time,
    /// Instructions of a machine whose clock counts them.
    Instructions {
        /// What each of them adds to the clock, in nanoseconds.
        ns: u32,
    },
}

/// What instrumentation costs.
#[derive(Clone, Debug)]
pub struct Overhead {
    /// What figures are in.
    pub unit: Unit,
    /// The unit's name: `instructions`, `ns` or `ticks`.
    pub unit_name: &'static str,
    /// One for each figure of a scenario that both runs have.
    pub costs: Vec<Cost>,
    /// What was not compared, and why, as sentences.
    pub left_out: Vec<String>,
}

/// A figure of a scenario under both builds.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The scenario.
    pub scenario: Term<ScenarioId>,
    /// By which method.
    pub method: Term<Method>,
    /// Of points the variant, and what was varied.
    pub variant: Option<String>,
    /// Which figure: that of tables.
    pub figure: String,
    /// Each CPU that both have.
    pub cpus: Vec<OfCpu>,
}

/// A CPU's medians under both builds, in the [`Unit`].
#[derive(Clone, Debug, PartialEq)]
pub struct OfCpu {
    /// Its label.
    pub label: String,
    /// Under the instrumented build.
    pub with: f64,
    /// Under the plain one.
    pub without: f64,
    /// By how much noise may move the difference; None of single samples.
    pub margin: Option<f64>,
}

impl OfCpu {
    /// What instrumentation adds.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.with - self.without
    }
}

impl Cost {
    /// The CPU whose difference is the median, the lower one of an even
    /// number: its two figures have just that difference.
    #[must_use]
    pub fn typical(&self) -> Option<&OfCpu> {
        let sorted = self.sorted();
        sorted.get(sorted.len().saturating_sub(1) / 2).copied()
    }

    /// The CPU with the least figures. Where the clock counts the instructions
    /// of all CPUs, those of others can only add to it.
    #[must_use]
    pub fn cleanest(&self) -> Option<&OfCpu> {
        let both = |own: &&OfCpu| own.with + own.without;
        self.cpus.iter().min_by(|a, b| both(a).total_cmp(&both(b)))
    }

    /// The CPUs, the one with the least difference first.
    pub(crate) fn sorted(&self) -> Vec<&OfCpu> {
        let mut all: Vec<&OfCpu> = self.cpus.iter().collect();
        all.sort_by(|a, b| a.difference().total_cmp(&b.difference()));
        all
    }

    /// How many CPUs have the difference of [`Cost::typical`].
    #[must_use]
    pub fn alike(&self) -> usize {
        let same = |own: &OfCpu| {
            let typical = self.typical().map_or(f64::NAN, OfCpu::difference);
            (own.difference() - typical).abs() < 1e-6
        };
        self.cpus.iter().filter(|own| same(own)).count()
    }
}

/// Compares the run `with` instrumentation with the one `without`.
///
/// # Errors
/// Where they are not of one board and its counter, where PMF is not in the
/// first alone, and where they have no figure in common.
pub fn overhead(with: &Run, without: &Run, unit: Unit) -> Result<Overhead> {
    let names = (&with.source.input, &without.source.input);
    for (run, due) in [(with, true), (without, false)] {
        let name = &run.source.input;
        ensure!(
            run.facts.pmf.is_some() == due,
            "{name}: the firmware of this run has {}PMF: name the log of the instrumented build \
             first, and that of the plain one by --overhead",
            if due { "no " } else { "" }
        );
    }
    ensure!(
        with.model == without.model,
        "{} and {} are not of one board",
        names.0,
        names.1
    );
    ensure!(
        with.facts.hz == without.facts.hz && with.facts.counter == without.facts.counter,
        "{} and {} were not measured by one counter",
        names.0,
        names.1
    );
    let scale = Scale::of(with, unit)?;
    let mut costs = Vec::new();
    for test in &with.tests {
        let same = |it: &&Test| it.is_same(test) && it.power_state == test.power_state;
        let Some(old) = without.tests.iter().find(same) else {
            continue;
        };
        if !is_comparable(test) {
            continue;
        }
        for (metric, heading) in COMPARED {
            let cpus = rows(with, test, without, old, &metric, &scale);
            if !cpus.is_empty() {
                costs.push(Cost {
                    scenario: test.scenario.clone(),
                    method: test.method.clone(),
                    variant: None,
                    figure: heading.to_owned(),
                    cpus,
                });
            }
        }
        costs.extend(of_points(with, test, without, old, &scale));
    }
    if costs.is_empty() {
        bail!(
            "{} and {} have no scenario in common with a figure that can be compared: \
             PSCI_VERSION, suspends in sequence and CPU_ON have one",
            names.0,
            names.1
        );
    }
    Ok(Overhead {
        unit,
        unit_name: scale.name,
        costs,
        left_out: self::left_out(with, without),
    })
}

/// The caller's figures that may be compared.
const COMPARED: [(Metric, &str); 3] = [
    (Metric::Call, "Call"),
    (Metric::Wake, "Wake"),
    (Metric::TurnOn, "Turn On"),
];

/// The same of points: what one operation takes, and what the caller sees of
/// CPU_ON and of wake-ups.
const OF_POINTS: [Measure; 3] = [Measure::Ticks, Measure::Wake, Measure::TurnOn];

/// Whether it is more than a matter of who is ahead in the queue.
fn is_comparable(test: &Test) -> bool {
    let queue = test.is_parallel() && !test.scenario.is(ScenarioId::PsciVersionParallel);
    !queue && !test.is_queue_of_points()
}

/// The points of one CPU alone that both runs have: with others at work, it
/// is about them, too.
fn of_points(with: &Run, new: &Test, without: &Run, old: &Test, scale: &Scale) -> Vec<Cost> {
    let mut costs: Vec<(&Measured, Cost)> = Vec::new();
    for point in &new.points {
        let measured = point
            .metric
            .known()
            .is_some_and(|it| OF_POINTS.contains(&it));
        if !measured || !point.how.is(How::Alone) || point.variant == LOOP {
            continue;
        }
        let mpidr = with.cpus.get(point.cpu).and_then(|cpu| cpu.mpidr);
        let cpu = mpidr.and_then(|mpidr| without.cpu_by_mpidr(mpidr));
        let same = |it: &&Measured| Some(it.cpu) == cpu && it.is_of_kind(point);
        let Some(other) = old.points.iter().find(same) else {
            continue;
        };
        let label = with.label(point.cpu);
        let own = scale.of_cpu(label, &point.summary, &other.summary, point.per);
        match costs.iter_mut().find(|it| it.0.is_of_kind(point)) {
            Some((_, cost)) => cost.cpus.push(own),
            None => costs.push((
                point,
                Cost {
                    scenario: new.scenario.clone(),
                    method: new.method.clone(),
                    variant: Some(match point.x {
                        Some(x) => format!("{} {}", point.variant, new.x_shown(x)),
                        None => point.variant.clone(),
                    }),
                    figure: measure_heading(&point.metric).to_owned(),
                    cpus: vec![own],
                },
            )),
        }
    }
    costs.into_iter().map(|it| it.1).collect()
}

/// From ticks to the unit.
struct Scale {
    factor: f64,
    name: &'static str,
}

impl Scale {
    fn of(run: &Run, unit: Unit) -> Result<Self> {
        let clock = run.clock();
        let ns = clock.is_known().then(|| 1e9 / clock.hz as f64);
        Ok(match (unit, ns) {
            (Unit::Time, Some(factor)) => Self { factor, name: "ns" },
            (Unit::Time, None) => Self {
                factor: 1.0,
                name: "ticks",
            },
            (Unit::Instructions { ns: each }, Some(ns)) => Self {
                factor: ns / f64::from(each),
                name: "instructions",
            },
            (Unit::Instructions { .. }, None) => {
                bail!("the counter's frequency is not known, and so not what a tick is")
            }
        })
    }

    fn of_cpu(&self, label: String, new: &Summary, old: &Summary, per: u32) -> OfCpu {
        let told = |ticks: f64| ticks * self.factor / f64::from(per.max(1));
        let margin = |summary: &Summary| {
            let (low, high) = notch(summary)?;
            Some(
                high.abs_diff(summary.median)
                    .max(summary.median.abs_diff(low)) as f64,
            )
        };
        OfCpu {
            label,
            with: told(new.median as f64),
            without: told(old.median as f64),
            margin: margin(new).zip(margin(old)).map(|(a, b)| told(a + b)),
        }
    }
}

/// A figure of each CPU that both have.
fn rows(
    with: &Run,
    new: &Test,
    without: &Run,
    old: &Test,
    metric: &Metric,
    scale: &Scale,
) -> Vec<OfCpu> {
    let metric = Term::Known(*metric);
    let wake = Term::Known(Metric::Wake);
    let all = new.rows.iter().filter_map(|row| {
        // A call that sleeps is as long as the sleep.
        if metric.is(Metric::Call) && row.summary(&wake).is_some() {
            return None;
        }
        let mpidr = with.cpus.get(row.cpu)?.mpidr?;
        let other = old.row(without.cpu_by_mpidr(mpidr)?)?;
        let (new, old) = (row.summary(&metric)?, other.summary(&metric)?);
        Some(scale.of_cpu(with.label(row.cpu), new, old, 1))
    });
    all.collect()
}

/// What of the two runs can not be compared, and why.
fn left_out(with: &Run, without: &Run) -> Vec<String> {
    let mut all = Vec::new();
    let has = |run: &Run, metric: Metric| {
        let rows = run.tests.iter().flat_map(|test| &test.rows);
        let metric = Term::Known(metric);
        rows.into_iter().any(|row| row.summary(&metric).is_some())
    };
    let own = [
        (Metric::Powerdown, "Powerdown"),
        (Metric::Wakeup, "Wakeup"),
        (Metric::CacheFlush, "Cache Flush"),
        (Metric::Latency, "Latency"),
    ];
    let names: Vec<&str> = own
        .iter()
        .filter(|it| has(with, it.0))
        .map(|it| it.1)
        .collect();
    if !names.is_empty() {
        all.push(format!(
            "{}: PMF's own, which the plain build does not have. What timestamps cost on the way \
             down is hidden in the sleep.",
            names.join(", ")
        ));
    }
    if let Some((new, old)) = sleeps(with, without) {
        all.push(format!(
            "Call of a suspend: it includes the sleep, which each run calibrates for itself \
             ({new} and {old})."
        ));
    }
    if has(without, Metric::TurnOff) || has(with, Metric::TurnOff) {
        all.push(
            "Turn Off: with PMF the lead looks seldom, so as to disturb nobody, and can not tell."
                .to_owned(),
        );
    }
    let at_once = |test: &Test| test.points.iter().any(|it| it.how.is(How::All));
    if with.tests.iter().any(at_once) {
        all.push(
            "Points of all CPUs at once: with others at work, they are about them, too.".to_owned(),
        );
    }
    let outside: Vec<&str> = with
        .tests
        .iter()
        .filter(|test| test.scenario.is(ScenarioId::TimerLatency) && !test.points.is_empty())
        .map(|test| test.scenario.word())
        .collect();
    if !outside.is_empty() {
        all.push(format!(
            "{}: from a timer's expiry to its handler, which calls no firmware.",
            outside.join(", ")
        ));
    }
    let queues = with.tests.iter().filter(|test| !is_comparable(test));
    let queues: Vec<&str> = queues
        .map(|test| test.scenario.word().trim_start_matches(TAG_PREFIX))
        .collect();
    if !queues.is_empty() {
        all.push(format!(
            "{}: CPUs wait for each other, and who is ahead changes with the firmware.",
            queues.join(", ")
        ));
    }
    let lacks = |test: &&Test| !without.tests.iter().any(|it| it.is_same(test));
    for test in with.tests.iter().filter(lacks) {
        all.push(format!("{}: in one run alone.", test.scenario.word()));
    }
    all
}

/// The sleeps of the first suspend in sequence of both.
fn sleeps(with: &Run, without: &Run) -> Option<(String, String)> {
    let of = |run: &Run| {
        let test = run.tests.iter().find(|it| it.sleep.is_some_and(|s| s > 0));
        test.and_then(|it| it.sleep).map(|sleep| span(run, sleep))
    };
    of(with).zip(of(without))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::log::read_bytes;

    const POINTS: &[u8] = include_bytes!("../../../tests/data/report/qemu-points.log");

    #[test]
    fn timers_are_left_out_and_named() {
        let run = || {
            let mut run = read_bytes("a.log", POINTS).expect("a run").remove(0);
            run.tests.truncate(1);
            run
        };
        let named = |run: &Run| {
            let all = left_out(run, run);
            all.iter().any(|it| it.starts_with("timer_latency: "))
        };
        assert!(!named(&run()));
        let mut timers = run();
        timers.tests[0].scenario = Term::Known(ScenarioId::TimerLatency);
        assert!(named(&timers));
        timers.tests[0].points.clear();
        assert!(!named(&timers));
    }
}
