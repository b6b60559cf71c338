//! The cost of a firmware's instrumentation: the same payload under a build with
//! PMF and under a plain one, by the caller's figures.
//!
//! Both runs have only the caller's figures. Some of these are not comparable, and
//! are listed with the reason:
//!
//! * Powerdown, Wakeup, Cache Flush and Latency are PMF's own.
//! * Call of a suspend includes the sleep, which is calibrated in each run.
//! * Turn Off: with PMF the lead looks seldom, so as to disturb no other CPU.
//! * Points of all CPUs at once depend on the other CPUs' work, too.
//! * Parallel suspends: the order in the queue for a lock changes with any change
//!   of the firmware, and the clock of instructions counts those of all CPUs.
//!
//! The payload reads PMF's timestamps after the timed region, so that no figure here
//! contains these reads.

use anyhow::{Result, bail, ensure};
use itertools::Itertools as _;
use psci_bench::measure::{Metric, Summary};
use psci_bench::model::{How, Measure, Scenario, ScenarioKey, Variant, heading};
use psci_bench::plan::ScenarioId;
use psci_bench::spec::ticks::Span;

use super::conditions::{OVERHEAD, differences};
use super::figure::{
    Figure, FigureKey, Origin, PointKey, by_cpu_and_key, figures, is_sorted_by_size, x_text,
};
use super::interval::notch;
use crate::report::log::LoggedRun;
use crate::report::log::grouped::grouped;

/// The unit of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, or ticks without a clock.
    Time,
    /// Instructions, each of which adds `ns` to the clock.
    Instructions { ns: u32 },
}

/// The cost of instrumentation.
#[derive(Clone, Debug)]
pub struct Overhead {
    pub unit: Unit,
    pub unit_name: &'static str,
    /// One for each figure of a scenario that both runs have.
    pub costs: Vec<Cost>,
    /// Sentences about figures that were not compared.
    pub left_out: Vec<String>,
}

/// A figure of a scenario under both builds.
#[derive(Clone, Debug)]
pub struct Cost {
    pub scenario: ScenarioKey,
    pub key: FigureKey,
    /// Each CPU that both have.
    pub cpus: Vec<CostOfCpu>,
}

/// A CPU's medians under both builds, in the [`Unit`].
#[derive(Clone, Debug, PartialEq)]
pub struct CostOfCpu {
    pub label: String,
    pub with: f64,
    pub without: f64,
    /// The sum of both notches; None of single samples.
    pub margin: Option<f64>,
}

impl CostOfCpu {
    pub fn difference(&self) -> f64 {
        self.with - self.without
    }

    /// Returns true if noise alone may have made the difference.
    pub fn is_noise(&self) -> bool {
        let size = self.difference().abs();
        self.margin.is_none_or(|margin| size <= margin)
    }
}

impl Cost {
    /// Returns the CPU whose difference is the median, the lower one of an even
    /// number.
    pub fn typical(&self) -> Option<&CostOfCpu> {
        let sorted = self.sorted();
        sorted.get(sorted.len().saturating_sub(1) / 2).copied()
    }

    /// Returns the CPU with the least figures: the instructions of other CPUs can
    /// only add to it.
    pub fn cleanest(&self) -> Option<&CostOfCpu> {
        let sum = |it: &CostOfCpu| it.with + it.without;
        let cpus = self.cpus.iter();
        cpus.min_by(|a, b| sum(a).total_cmp(&sum(b)))
    }

    /// Returns the CPUs in the order of their differences.
    pub fn sorted(&self) -> Vec<&CostOfCpu> {
        let order = |a: &&CostOfCpu, b: &&CostOfCpu| a.difference().total_cmp(&b.difference());
        self.cpus.iter().sorted_by(order).collect()
    }

    /// Returns the number of CPUs with the difference of [`Cost::typical`].
    pub fn alike(&self) -> usize {
        let typical = self.typical().map_or(f64::NAN, CostOfCpu::difference);
        let is_same = |it: &&CostOfCpu| (it.difference() - typical).abs() < 1e-6;
        self.cpus.iter().filter(is_same).count()
    }

    /// Returns a point's variant, and the quantity that was varied.
    pub fn variant_text(&self) -> Option<String> {
        let FigureKey::Point(PointKey { variant, x, .. }) = self.key else {
            return None;
        };
        let x = x.map_or_else(String::new, |x| format!(" {}", x_text(self.scenario.id, x)));
        Some(format!("{}{x}", variant.word()))
    }
}

/// Compares the run `with` instrumentation with the one `without`.
pub fn overhead(with: &LoggedRun, without: &LoggedRun, unit: Unit) -> Result<Overhead> {
    let (a, b) = (&with.source.input, &without.source.input);
    for (run, is_due) in [(with, true), (without, false)] {
        let facts = run.run.facts.as_ref();
        let has = if is_due { "no " } else { "" };
        ensure!(
            facts.is_some_and(|facts| facts.pmf.is_ok()) == is_due,
            "{}: the firmware of this run has {has}PMF: name the log of the instrumented build \
             first, and that of the plain one by --overhead",
            run.source.input,
        );
    }
    let sides = [(with, None), (without, None)];
    if let Some((condition, [x, y])) = differences(OVERHEAD, sides, true).next() {
        let name = condition.name;
        bail!("{name} is {x} in {a}, and {y} in {b}: both logs have to be of one board");
    }
    let scale = Scale::of(with, unit)?;
    let comparable = with.run.scenarios.iter().filter(|it| is_comparable(it));
    let costs = comparable.flat_map(|scenario| {
        let state = |it: &Scenario| it.conditions.as_ref().and_then(|it| it.power_state);
        let old = without.run.scenario(scenario.key());
        let old = old.filter(|it| state(it) == state(scenario));
        old.map_or_else(Vec::new, |old| {
            costs_of((with, scenario), (without, old), &scale)
        })
    });
    let costs: Vec<Cost> = costs.collect();
    ensure!(
        !costs.is_empty(),
        "{a} and {b} have no scenario in common with a figure that can be compared: \
         PSCI_VERSION, suspends in sequence and CPU_ON have one"
    );
    Ok(Overhead {
        unit,
        unit_name: scale.name,
        costs,
        left_out: left_out(with, without),
    })
}

/// Returns true if figures do not depend on the order in a queue.
fn is_comparable(scenario: &Scenario) -> bool {
    scenario.id == ScenarioId::PsciVersionParallel || !is_sorted_by_size(scenario.id)
}

/// Returns true for a figure of the caller's side that depends on one CPU alone.
fn is_compared(figure: &Figure<'_>) -> bool {
    match (figure.key, figure.origin) {
        // A call that sleeps is as long as the sleep.
        (FigureKey::Row { metric }, Origin::Row(row)) => match metric {
            Metric::Call => row.summary(Metric::Wake).is_none(),
            metric => matches!(metric, Metric::Wake | Metric::TurnOn),
        },
        (_, Origin::Point(point)) => {
            use Measure::{Ticks, TurnOn, Wake};
            let is_callers = matches!(point.measure, Ticks | Wake | TurnOn);
            is_callers && point.how == How::Alone && point.variant != Variant::Loop
        }
        _ => false,
    }
}

fn costs_of(
    (with, new): (&LoggedRun, &Scenario),
    (without, old): (&LoggedRun, &Scenario),
    scale: &Scale,
) -> Vec<Cost> {
    let others = by_cpu_and_key(figures(without, old));
    let all = figures(with, new).into_iter().filter(is_compared);
    let costs = all.filter_map(|figure| {
        let mpidr = Some(with.run.cpu(figure.cpu).mpidr?);
        let cpu = without.run.cpus.iter().position(|cpu| cpu.mpidr == mpidr)?;
        let other = others.get(&(cpu as u16, figure.key))?;
        let label = with.run.label(figure.cpu).to_string();
        let cost = scale.cost(label, figure.key, figure.summary?, other.summary?);
        Some((figure.key, cost))
    });
    let scenario = new.key();
    let costs = grouped(costs).into_iter();
    costs
        .map(|(key, cpus)| Cost {
            scenario,
            key,
            cpus,
        })
        .collect()
}

/// The conversion of ticks to the unit.
struct Scale {
    factor: f64,
    name: &'static str,
}

impl Scale {
    fn of(run: &LoggedRun, unit: Unit) -> Result<Self> {
        let clock = run.run.clock();
        let ns = clock.is_known().then(|| 1e9 / clock.hz as f64);
        let (factor, name) = match (unit, ns) {
            (Unit::Time, Some(ns)) => (ns, "ns"),
            (Unit::Time, None) => (1.0, "ticks"),
            (Unit::Instructions { ns: each }, Some(ns)) => (ns / f64::from(each), "instructions"),
            (Unit::Instructions { .. }, None) => {
                bail!("the counter's frequency is not known, and so not what a tick is")
            }
        };
        Ok(Self { factor, name })
    }

    fn cost(&self, label: String, key: FigureKey, new: &Summary, old: &Summary) -> CostOfCpu {
        let scaled = |ticks: f64| ticks * self.factor / f64::from(key.per());
        let margin = |summary: &Summary| {
            let (low, high) = notch(summary)?;
            let median = summary.median;
            Some(high.abs_diff(median).max(median.abs_diff(low)) as f64)
        };
        CostOfCpu {
            label,
            with: scaled(new.median as f64),
            without: scaled(old.median as f64),
            margin: margin(new).zip(margin(old)).map(|(a, b)| scaled(a + b)),
        }
    }
}

/// Returns sentences about the figures that are not compared.
fn left_out(with: &LoggedRun, without: &LoggedRun) -> Vec<String> {
    use Metric::{CacheFlush, Latency, Powerdown, TurnOff, Wakeup};
    let mut all = Vec::new();
    let scenarios = || with.run.scenarios.iter();
    let has = |run: &LoggedRun, metric: Metric| {
        let mut rows = run.run.scenarios.iter().flat_map(|it| &it.rows);
        rows.any(|row| row.summary(metric).is_some())
    };
    let pmf = [Powerdown, Wakeup, CacheFlush, Latency].into_iter();
    let pmf = pmf.filter(|it| has(with, *it)).map(heading).join(", ");
    if !pmf.is_empty() {
        all.push(format!(
            "{pmf}: PMF's own, which the plain build does not have. The cost of timestamps on the \
             way down is hidden in the sleep."
        ));
    }
    if let Some((new, old)) = first_sleep(with).zip(first_sleep(without)) {
        all.push(format!(
            "Call of a suspend: it includes the sleep, which each run calibrates for itself \
             ({new} and {old})."
        ));
    }
    if has(without, TurnOff) || has(with, TurnOff) {
        let text = "Turn Off: with PMF the lead looks seldom, so as to disturb no other CPU.";
        all.push(text.to_owned());
    }
    if scenarios().any(|it| it.points.iter().any(|it| it.how == How::All)) {
        let text = "Points of all CPUs at once: they depend on the other CPUs' work, too.";
        all.push(text.to_owned());
    }
    let timers = |it: &&Scenario| it.id == ScenarioId::TimerLatency && !it.points.is_empty();
    all.extend(scenarios().find(timers).map(|it| {
        let id = it.id;
        format!("{id}: from a timer's expiry to its handler, which calls no firmware.")
    }));
    let queues = scenarios().filter(|it| !is_comparable(it));
    let queues = queues.map(|it| it.id.short_tag()).join(", ");
    if !queues.is_empty() {
        all.push(format!(
            "{queues}: CPUs wait for each other, and their order changes with the firmware."
        ));
    }
    let alone = scenarios().filter(|it| without.run.scenario(it.key()).is_none());
    all.extend(alone.map(|it| format!("{}: in one run alone.", it.id)));
    all
}

/// Returns the sleep of the first scenario that has one.
fn first_sleep(run: &LoggedRun) -> Option<Span> {
    let conditions = run.run.scenarios.iter();
    let conditions = conditions.filter_map(|it| it.conditions.as_ref());
    let sleep = conditions.map(|it| it.sleep).find(|sleep| *sleep > 0);
    sleep.map(|sleep| run.run.clock().span(sleep))
}
