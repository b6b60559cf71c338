//! Computes the cost of firmware instrumentation by comparing the caller's figures for the same
//! payload on a build with PMF and on a plain build.
//!
//! Figures that cannot be compared are listed with the reason. The payload reads the PMF timestamps
//! after the timed region, so no figure here includes these reads.

use anyhow::{Result, bail, ensure};
use itertools::Itertools as _;
use run::measure::{Metric, Summary};
use run::model::{CellStep, Scenario, ScenarioKey, Variant};
use run::plan::How;

use super::conditions::{OVERHEAD, differences};
use super::figure::{Figure, FigureKey, by_cpu_and_key, figures, x_text};
use super::interval::notch;
use crate::log::LoggedRun;
use crate::log::grouped::grouped;

/// The unit in which costs are expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostUnit {
    /// Nanoseconds, or ticks if the clock is unknown.
    Time,
    /// Instructions, each of which advances the clock by `ns`.
    Instructions {
        /// Nanoseconds.
        ns: u32,
    },
}

/// The cost of instrumentation.
#[derive(Clone, Debug)]
pub struct Overhead {
    /// The unit of all costs.
    pub unit: CostUnit,
    /// The unit name used in headings.
    pub unit_name: &'static str,
    /// One entry for each figure in a scenario that is present in both runs.
    pub costs: Vec<Cost>,
    /// Sentences about figures that were not compared.
    pub left_out: Vec<String>,
}

/// A scenario's figure, measured on both builds.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The scenario.
    pub scenario: ScenarioKey,
    /// The figure.
    pub key: FigureKey,
    /// The CPUs present in both runs.
    pub cpus: Vec<CostOfCpu>,
}

/// A CPU's medians on both builds, in the unit given by [`CostUnit`].
#[derive(Clone, Debug, PartialEq)]
pub struct CostOfCpu {
    /// The CPU's label.
    pub label: String,
    /// The median with instrumentation.
    pub with: f64,
    /// The median without instrumentation.
    pub without: f64,
    /// The sum of the two notches; None for single samples.
    pub margin: Option<f64>,
}

impl CostOfCpu {
    /// Returns the cost.
    pub fn difference(&self) -> f64 {
        self.with - self.without
    }

    /// Returns true if noise alone can explain the difference; None if the margin is unknown.
    pub fn is_noise(&self) -> Option<bool> {
        Some(self.difference().abs() <= self.margin?)
    }
}

impl Cost {
    /// Returns the CPU with the median difference (the lower of the two middle ones).
    pub fn typical(&self) -> Option<&CostOfCpu> {
        let sorted = self.sorted();
        sorted.get(sorted.len().saturating_sub(1) / 2).copied()
    }

    /// Returns the CPU with the smallest figures, because instructions on other CPUs can only add
    /// to a figure.
    pub fn cleanest(&self) -> Option<&CostOfCpu> {
        let sum = |it: &CostOfCpu| it.with + it.without;
        let cpus = self.cpus.iter();
        cpus.min_by(|a, b| sum(a).total_cmp(&sum(b)))
    }

    /// Returns the CPUs sorted by difference.
    pub fn sorted(&self) -> Vec<&CostOfCpu> {
        let order = |a: &&CostOfCpu, b: &&CostOfCpu| a.difference().total_cmp(&b.difference());
        self.cpus.iter().sorted_by(order).collect()
    }

    /// Returns the number of CPUs that have the same difference as [`Cost::typical`].
    pub fn alike(&self) -> usize {
        let typical = self.typical().map_or(f64::NAN, CostOfCpu::difference);
        let is_same = |it: &&CostOfCpu| (it.difference() - typical).abs() < 1e-6;
        self.cpus.iter().filter(is_same).count()
    }

    /// Returns a step's variant and the value of the quantity that its scenario varies; None for
    /// the TFTF suite.
    pub fn variant_text(&self) -> Option<String> {
        if !self.key.is_of_step() {
            return None;
        }
        let CellStep { variant, x, .. } = self.key.step;
        let x = x.map_or_else(String::new, |x| format!(" {}", x_text(self.scenario.id, x)));
        Some(format!("{}{x}", variant.word()))
    }
}

/// Compares `with`, a run with instrumentation, to `without`, a run without it.
pub fn overhead(with: &LoggedRun, without: &LoggedRun, unit: CostUnit) -> Result<Overhead> {
    let (a, b) = (&with.source.input, &without.source.input);
    for (run, is_due) in [(with, true), (without, false)] {
        let facts = run.run.facts.as_ref();
        let has = if is_due { "no " } else { "" };
        ensure!(
            facts.is_some_and(|facts| facts.pmf.is_ok()) == is_due,
            "{}: this run's firmware has {has}PMF; specify the instrumented build's log first, \
             then the plain build's",
            run.source.input,
        );
    }
    let sides = [(with, None), (without, None)];
    if let Some((condition, [x, y])) = differences(OVERHEAD, sides, true).next() {
        let name = condition.name;
        bail!("{name} is {x} in {a}, but {y} in {b}; both logs must be from the same board");
    }
    let clock = with.run.clock();
    let ns = clock.is_known().then(|| 1e9 / clock.hz as f64);
    let (scale, unit_name) = match (unit, ns) {
        (CostUnit::Time, Some(ns)) => (ns, "ns"),
        (CostUnit::Time, None) => (1.0, "ticks"),
        (CostUnit::Instructions { ns: each }, Some(ns)) => (ns / f64::from(each), "instructions"),
        (CostUnit::Instructions { .. }, None) => {
            bail!("the counter frequency, and therefore the length of a tick, is unknown")
        }
    };
    let (mut costs, mut left_out) = (Vec::new(), LEFT_OUT.map(str::to_owned).to_vec());
    for scenario in &with.run.scenarios {
        let state = |it: &Scenario| it.conditions.as_ref().and_then(|it| it.power_state);
        match without.run.scenario(scenario.key()) {
            None => left_out.push(format!("{}: present in only one of the runs.", scenario.id)),
            Some(old) if is_comparable(scenario) && state(old) == state(scenario) => {
                costs.extend(costs_of((with, scenario), (without, old), scale));
            }
            Some(_) => {}
        }
    }
    ensure!(
        !costs.is_empty(),
        "{a} and {b} share no scenario with comparable figures, such as PSCI_VERSION, suspends in \
         sequence or CPU_ON"
    );
    Ok(Overhead {
        unit,
        unit_name,
        costs,
        left_out,
    })
}

/// Figures that are never compared, with the reasons.
const LEFT_OUT: [&str; 6] = [
    "Powerdown, Wakeup, Cache Flush, Latency: read from PMF, which the plain build lacks. The cost \
     of timestamps before the sleep is hidden by the sleep.",
    "Call for suspends: includes the sleep, which each run calibrates separately.",
    "Turn Off: with PMF, the lead polls only rarely, to avoid disturbing other CPUs.",
    "Steps with all CPUs at once: the figures include the work of other CPUs.",
    "timer_latency: measured from a timer's expiry to its handler, without a firmware call.",
    "Parallel suspends and contend_sweep: CPUs wait for each other, and their order changes with \
     the firmware, because the instruction clock counts the instructions of all CPUs.",
];

/// Returns true if the figures do not depend on the order of a queue.
fn is_comparable(scenario: &Scenario) -> bool {
    !scenario.id.has_queue()
}

/// Returns true for a figure that was measured by the caller and depends on only one CPU.
fn is_compared(figure: &Figure<'_>) -> bool {
    let (key, cell) = (figure.key, figure.cell);
    if key.is_of_step() {
        let is_callers = matches!(key.metric, Metric::Time | Metric::Wake | Metric::TurnOn);
        return is_callers && key.step.how == How::Alone && key.step.variant != Variant::Loop;
    }
    if key.metric == Metric::Call {
        // A call that sleeps takes as long as the sleep.
        cell.summary(Metric::Wake).is_none()
    } else {
        matches!(key.metric, Metric::Wake | Metric::TurnOn)
    }
}

fn costs_of(
    (with, new): (&LoggedRun, &Scenario),
    (without, old): (&LoggedRun, &Scenario),
    scale: f64,
) -> Vec<Cost> {
    let others = by_cpu_and_key(figures(without, old));
    let all = figures(with, new).into_iter().filter(is_compared);
    let costs = all.filter_map(|figure| {
        let mpidr = Some(with.run.cpu(figure.cpu).mpidr?);
        let mut cpus = without.run.cpu_indices().zip(&without.run.cpus);
        let (index, _) = cpus.find(|(_, cpu)| cpu.mpidr == mpidr)?;
        let other = others.get(&(index, figure.key))?;
        let label = with.run.label(figure.cpu).to_string();
        let cost = cost(
            label,
            scale / f64::from(figure.key.per()),
            figure.summary?,
            other.summary?,
        );
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

/// Returns a CPU's cost. `scale` converts ticks to a figure per operation.
fn cost(label: String, scale: f64, new: &Summary, old: &Summary) -> CostOfCpu {
    let margin = |summary: &Summary| {
        let (low, high) = notch(summary)?;
        let median = summary.median;
        Some(high.abs_diff(median).max(median.abs_diff(low)) as f64)
    };
    CostOfCpu {
        label,
        with: new.median as f64 * scale,
        without: old.median as f64 * scale,
        margin: margin(new).zip(margin(old)).map(|(a, b)| (a + b) * scale),
    }
}
