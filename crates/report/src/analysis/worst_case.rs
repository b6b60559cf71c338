//! The worst entry and exit latency of each idle state.
//!
//! The `idle-states` node in a device tree requires worst cases, so each latency is the maximum
//! over all CPUs, all scenarios that suspend to the state, and all samples, including the cold
//! first one:
//!
//! * entry is measured by Powerdown, which in parallel scenarios includes queuing for firmware
//!   locks and, for the last man, the cluster flush;
//! * exit is measured by Wakeup and by Wake, its caller-side counterpart, which starts when the
//!   wake-up is due. Wake is ignored if the lead's SGI wakes the CPUs one after another, because
//!   in that case it includes the time spent waiting for other CPUs. The cold Wake is ignored as
//!   well: the first wake-up of a scenario may be due before the CPU is down, in which case Wake
//!   includes part of the entry.
//!
//! The `idle_states` scenario, which suspends to every state in the device tree, is treated like
//! the suite's scenarios and covers states that they do not. Steps of a sweep count toward the
//! state that they request.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::{Scenario, WakeSource};
use suite::plan::{ActiveCpus, Axis, ScenarioId, StateChoice, WakePattern};

use super::figure::{Figure, figures, x_heading};
use crate::log::LoggedRun;

/// An idle state with its latencies.
#[derive(Clone, Debug)]
pub struct WorstIdleState<'r> {
    pub power_state: u32,
    /// True if a scenario that suspends to the deepest level uses this state.
    pub is_deepest: bool,
    pub timer: TimerInState,
    pub entry: Latency<'r>,
    pub exit: Latency<'r>,
}

/// What happens to the CPU's own timer in an idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerInState {
    Stops,
    WakesCpu,
    NotMeasured,
}

/// A worst-case latency and its origin.
#[derive(Clone, Copy, Debug)]
pub struct Latency<'r> {
    pub ticks: u64,
    pub scenario: &'r Scenario,
    pub figure: Figure<'r>,
    /// True for the very first sample, which is not included in any statistics.
    pub is_cold: bool,
}

impl Latency<'_> {
    /// Returns the latency in nanoseconds, rounded; 0 if the clock is unknown.
    pub fn ns(&self, run: &LoggedRun) -> u64 {
        let hz = u128::from(run.clock().hz);
        let ns = (u128::from(self.ticks) * 1_000_000_000 + hz / 2).checked_div(hz);
        u64::try_from(ns.unwrap_or(0)).unwrap_or(u64::MAX)
    }

    /// Returns the latency in microseconds, rounded up; 0 if the clock is unknown.
    pub fn us(&self, run: &LoggedRun) -> u64 {
        let hz = u128::from(run.clock().hz);
        let us = (u128::from(self.ticks) * 1_000_000 + hz.saturating_sub(1)).checked_div(hz);
        u64::try_from(us.unwrap_or(0)).unwrap_or(u64::MAX)
    }

    /// Describes where the latency comes from: scenario, CPU and samples.
    pub fn origin(&self, run: &LoggedRun) -> String {
        let figure = self.figure;
        let n = figure.summary.map_or(0, |summary| summary.n as usize);
        let samples = match self.is_cold {
            true => format!("its cold first sample, followed by {}", many(n, "other")),
            false => format!("the longest of {}", many(n, "sample")),
        };
        let key = figure.key;
        let by = match key.is_of_step() {
            true => {
                // If the scenario varies power_state, the reader already knows its value.
                let x = key.step.value;
                let x = x.filter(|_| !self.scenario.id.axis().is_some_and(Axis::has_names));
                let x = x.map_or_else(String::new, |x| {
                    format!(", {} {x}", x_heading(self.scenario.id))
                });
                format!("{}{x}", key.step.variant.word())
            }
            false => self.scenario.method.word().to_owned(),
        };
        let (tag, cpu) = (self.scenario.id.short_tag(), run.run.label(figure.cpu));
        format!("{tag} ({by}), CPU {cpu}, {samples}")
    }
}

/// The metrics that measure an entry into a state, and an exit from it.
pub const ENTRY: &[Metric] = &[Metric::Powerdown];
/// See [`ENTRY`].
pub const EXIT: &[Metric] = &[Metric::Wakeup, Metric::Wake];

/// Returns the worst cases for each idle state, shallowest first.
pub fn worst_cases(run: &LoggedRun) -> Result<Vec<WorstIdleState<'_>>> {
    let input = &run.source.input;
    ensure!(
        run.integrity.records.is_some(),
        "{input}: no records; a worst case cannot be based on lines without a checksum"
    );
    ensure!(
        run.is_complete(),
        "{input}: records were lost, or the run did not finish; the worst case may be in the \
         missing part"
    );
    ensure!(
        run.run.clock().is_known(),
        "{input}: the counter frequency is unknown, but idle-states needs microseconds"
    );
    idle_states(run)
}

/// A run's scenarios and figures for one state.
#[derive(Default)]
pub struct Suspends<'r> {
    /// Scenarios of the suite.
    scenarios: Vec<&'r Scenario>,
    pub figures: Vec<(&'r Scenario, Figure<'r>)>,
}

/// Returns the scenarios and figures of all states, by power_state.
pub fn suspends(run: &LoggedRun) -> BTreeMap<u32, Suspends<'_>> {
    let mut all: BTreeMap<u32, Suspends<'_>> = BTreeMap::new();
    for scenario in &run.run.scenarios {
        if let Some((state, _)) = state_of_suite(scenario) {
            all.entry(state).or_default().scenarios.push(scenario);
        }
        for figure in figures(run, scenario) {
            if let Some(state) = state_of(scenario, &figure) {
                all.entry(state)
                    .or_default()
                    .figures
                    .push((scenario, figure));
            }
        }
    }
    all
}

pub(super) fn idle_states(run: &LoggedRun) -> Result<Vec<WorstIdleState<'_>>> {
    let all = suspends(run);
    ensure!(
        !all.is_empty(),
        "{}: no scenario suspended a CPU, so idle-states would be empty",
        run.source.input
    );
    let each = all.iter().map(|(state, of)| idle_state(run, *state, of));
    let mut states: Vec<WorstIdleState<'_>> = each.collect::<Result<_>>()?;
    states.sort_by_key(|state| state.is_deepest);
    Ok(states)
}

/// Returns the state used by one of the suite's scenarios, and which of the suite's states it is.
fn state_of_suite(scenario: &Scenario) -> Option<(u32, StateChoice)> {
    let is_of_all = !scenario.id.only_lead_suspends() && !scenario.suite_cells().is_empty();
    let choice = scenario.id.state().filter(|_| is_of_all)?;
    Some((scenario.conditions.as_ref()?.power_state?, choice))
}

/// Returns true if the steps use the suite's states.
fn has_steps_of_suite(id: ScenarioId) -> bool {
    matches!(id.axis(), Some(Axis::Bytes | Axis::Cpus))
}

/// Returns the state that a figure is for; None if the figure is not from a suspend.
fn state_of(scenario: &Scenario, figure: &Figure<'_>) -> Option<u32> {
    match figure.key.is_of_step() {
        true => figure.cell.power_state,
        false => state_of_suite(scenario).map(|entry| entry.0),
    }
}

fn idle_state<'r>(
    run: &LoggedRun,
    power_state: u32,
    of: &Suspends<'r>,
) -> Result<WorstIdleState<'r>> {
    check_all_cpus(run, of)?;
    let what = format!("power_state {power_state:#010x}");
    let entry = worst(of.latencies(run, ENTRY)).with_context(|| {
        format!(
            "{what}: its entry latency was not measured; this needs the firmware's \
             timestamps (ENABLE_RUNTIME_INSTRUMENTATION=1, ENABLE_PMF=1)"
        )
    })?;
    let exit = worst(of.latencies(run, EXIT));
    let exit = exit.with_context(|| format!("{what}: its exit latency was not measured"))?;
    let choices: Vec<StateChoice> = of
        .scenarios
        .iter()
        .filter_map(|scenario| state_of_suite(scenario))
        .map(|(_, choice)| choice)
        .collect();
    Ok(WorstIdleState {
        power_state,
        // Only the suite's scenarios show whether a state covers more than the core.
        is_deepest: choices.contains(&StateChoice::Deepest)
            && !choices.contains(&StateChoice::Core),
        timer: timer_in_state(run, of),
        entry,
        exit,
    })
}

/// Rejects a state that was not measured on every CPU. Sweeps are not checked, because they may
/// have steps with fewer CPUs.
fn check_all_cpus(run: &LoggedRun, of: &Suspends<'_>) -> Result<()> {
    let cpus = run.run.cpu_indices();
    let of_figures = of.figures.iter().map(|entry| entry.0);
    let scenarios = of_figures.chain(of.scenarios.iter().copied());
    let keys = scenarios
        .map(|scenario| (scenario.id, scenario.method))
        .unique();
    let keys = keys.filter(|key| !has_steps_of_suite(key.0));
    for (key, cpu) in keys.cartesian_product(cpus) {
        // The figures for a CPU that is the helper in some rounds come from rounds with a different
        // helper.
        let is_measured = of.figures.iter().any(|(scenario, figure)| {
            let is_shown = figure.key.is_of_step() || figure.shown.is_some();
            (scenario.id, scenario.method) == key && figure.cpu == cpu && is_shown
        });
        ensure!(
            is_measured,
            "{}: {} has no sample from CPU {}, which may be the worst case",
            run.source.input,
            key.0,
            run.run.label(cpu)
        );
    }
    Ok(())
}

impl<'r> Suspends<'r> {
    /// Returns the longest sample and the cold sample of each figure that measures one of these
    /// metrics, which are [`ENTRY`] or [`EXIT`].
    pub fn latencies(
        &self,
        run: &LoggedRun,
        metrics: &[Metric],
    ) -> impl Iterator<Item = Latency<'r>> {
        let all = self.figures.iter().filter(|(scenario, figure)| {
            let metric = figure.key.metric;
            let is_own = metric != Metric::Wake || is_woken_alone(run, scenario, figure);
            is_own && metrics.contains(&metric)
        });
        all.flat_map(|&(scenario, figure)| {
            let most = figure
                .summary
                .filter(|summary| summary.n > 0)
                .map(|summary| summary.max / u64::from(figure.key.per()));
            let cold = figure.series.cold;
            let cold = cold.filter(|_| figure.key.metric != Metric::Wake);
            let each = [(most, false), (cold, true)].into_iter();
            each.filter_map(move |(ticks, is_cold)| {
                Some(Latency {
                    ticks: ticks?,
                    scenario,
                    figure,
                    is_cold,
                })
            })
        })
    }
}

/// Returns the longest latency; if several are equal, the first one.
pub fn worst<'r>(all: impl Iterator<Item = Latency<'r>>) -> Option<Latency<'r>> {
    // `min_by_key` returns the first of equal elements, `max_by_key` the last.
    all.min_by_key(|latency| Reverse(latency.ticks))
}

fn wake_source(scenario: &Scenario) -> WakeSource {
    let conditions = scenario.conditions.as_ref();
    conditions.map_or_else(WakeSource::default, |conditions| conditions.wake_source)
}

/// Returns true if each CPU in a scenario is woken by its own timer rather than by the lead's SGI.
fn wakes_itself(run: &LoggedRun, scenario: &Scenario) -> bool {
    // A CPU that suspends alone is never woken by an SGI, regardless of the pattern.
    (!is_chain(run, scenario) || !scenario.id.is_parallel())
        && wake_source(scenario) == WakeSource::OwnTimers
}

/// Returns true if, in a parallel round, the lead wakes the other CPUs one after another.
fn is_chain(run: &LoggedRun, scenario: &Scenario) -> bool {
    let plan = run.run.plan.as_ref();
    let pattern = plan.map(|plan| plan.wake_by(scenario.method));
    pattern.is_none_or(|pattern| pattern == WakePattern::Chain)
}

/// Returns true if a CPU's wake-up does not have to wait for those of other CPUs.
fn is_woken_alone(run: &LoggedRun, scenario: &Scenario, figure: &Figure<'_>) -> bool {
    let (is_parallel, source) = match figure.key.is_of_step() {
        true => (
            figure.key.step.cpus == ActiveCpus::All,
            figure.cell.wake_source,
        ),
        false => (scenario.id.is_parallel(), Some(wake_source(scenario))),
    };
    !is_parallel || !is_chain(run, scenario) && source == Some(WakeSource::OwnTimers)
}

/// Returns what happens to the timer in the state, as inferred from the interrupts that woke CPUs.
pub fn timer_in_state(run: &LoggedRun, of: &Suspends<'_>) -> TimerInState {
    // Each cell in a step has its own wake-up source.
    let figures = of.figures.iter().map(|entry| entry.1);
    let steps = figures.filter(|figure| figure.key.is_of_step());
    let source = |figure: Figure<'_>| figure.cell.wake_source.unwrap_or_default();
    let mut suite = of.scenarios.iter();
    let stops = suite
        .clone()
        .any(|scenario| wake_source(scenario) != WakeSource::OwnTimers)
        || steps
            .clone()
            .any(|figure| source(figure) != WakeSource::OwnTimers);
    let wakes = suite.any(|scenario| wakes_itself(run, scenario))
        || steps
            .clone()
            .any(|figure| figure.key.step.cpus == ActiveCpus::Alone && figure.series.summary.n > 0);
    match stops {
        true => TimerInState::Stops,
        false if wakes && run.run.facts.is_some() => TimerInState::WakesCpu,
        false => TimerInState::NotMeasured,
    }
}
