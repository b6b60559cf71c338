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

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use hardware::text::plural::many;
use itertools::Itertools as _;
use report::analysis::figure::{Figure, axis_heading, figures};
use report::log::LoggedRun;
use suite::measure::Metric;
use suite::model::{Scenario, WakeSource};
use suite::plan::{ActiveCpus, Axis, ScenarioId, StateChoice, WakePattern};

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
    /// True for the cold first sample, which is not included in the statistics.
    pub is_cold: bool,
}

impl Latency<'_> {
    /// Returns the latency in nanoseconds, rounded; 0 if the clock is unknown.
    pub fn ns(&self, logged: &LoggedRun) -> u64 {
        logged.clock().nearest_ns(self.ticks)
    }

    /// Returns the latency in microseconds, rounded up; 0 if the clock is unknown.
    pub fn us(&self, logged: &LoggedRun) -> u64 {
        logged.clock().whole_us(self.ticks)
    }

    /// Describes where the latency comes from: scenario, CPU and samples.
    pub fn origin(&self, logged: &LoggedRun) -> String {
        let id = self.scenario.id;
        let count = self.figure.summary.map_or(0, |summary| summary.n as usize);
        let samples = if self.is_cold {
            format!(
                "its cold first sample, followed by {}",
                many(count, "other")
            )
        } else {
            format!("the longest of {}", many(count, "sample"))
        };
        let key = self.figure.key;
        let how = if key.is_of_step() {
            let variant = key.step.variant.word();
            match key.step.value {
                // If the scenario varies power_state, the reader already knows its value.
                Some(value) if !id.axis().is_some_and(Axis::has_names) => {
                    format!("{variant}, {} {value}", axis_heading(id))
                }
                _ => variant.to_owned(),
            }
        } else {
            self.scenario.method.word().to_owned()
        };
        let tag = id.short_tag();
        let cpu = logged.run.label(self.figure.cpu);
        format!("{tag} ({how}), CPU {cpu}, {samples}")
    }
}

/// The metrics that measure an entry into a state.
pub const ENTRY: &[Metric] = &[Metric::Powerdown];
/// The metrics that measure an exit from a state.
pub const EXIT: &[Metric] = &[Metric::Wakeup, Metric::Wake];

/// Returns the worst cases for each idle state, shallowest first.
pub fn worst_cases(logged: &LoggedRun) -> Result<Vec<WorstIdleState<'_>>> {
    let input = &logged.source.input;
    ensure!(
        logged.integrity.records.is_some(),
        "{input}: no records; a worst case cannot be based on lines without a checksum"
    );
    ensure!(
        logged.is_complete(),
        "{input}: records were lost, or the run did not finish; the worst case may be in the \
         missing part"
    );
    ensure!(
        logged.run.clock().is_known(),
        "{input}: the counter frequency is unknown, but idle-states needs microseconds"
    );
    idle_states(logged)
}

/// A run's scenarios and figures for one state.
#[derive(Default)]
pub struct Suspends<'r> {
    /// The suite's scenarios that use the state.
    scenarios: Vec<&'r Scenario>,
    pub figures: Vec<(&'r Scenario, Figure<'r>)>,
}

/// Returns the scenarios and figures of all states, by power_state.
pub fn suspends(logged: &LoggedRun) -> BTreeMap<u32, Suspends<'_>> {
    let mut by_state: BTreeMap<u32, Suspends<'_>> = BTreeMap::new();
    for scenario in &logged.run.scenarios {
        if let Some((state, _)) = state_of_suite(scenario) {
            by_state.entry(state).or_default().scenarios.push(scenario);
        }
        for figure in figures(logged, scenario) {
            if let Some(state) = state_of(scenario, &figure) {
                let suspends = by_state.entry(state).or_default();
                suspends.figures.push((scenario, figure));
            }
        }
    }
    by_state
}

/// Returns the worst cases for each idle state, shallowest first, without checking that the run is
/// complete.
fn idle_states(logged: &LoggedRun) -> Result<Vec<WorstIdleState<'_>>> {
    let by_state = suspends(logged);
    ensure!(
        !by_state.is_empty(),
        "{}: no scenario suspended a CPU, so idle-states would be empty",
        logged.source.input
    );
    let mut states = by_state
        .iter()
        .map(|(power_state, suspends)| idle_state(logged, *power_state, suspends))
        .collect::<Result<Vec<_>>>()?;
    states.sort_by_key(|state| state.is_deepest);
    Ok(states)
}

/// Returns the state used by one of the suite's scenarios, and which of the suite's states it is.
fn state_of_suite(scenario: &Scenario) -> Option<(u32, StateChoice)> {
    if scenario.id.only_lead_suspends() || scenario.suite_cells().is_empty() {
        return None;
    }
    let choice = scenario.id.state()?;
    Some((scenario.conditions.as_ref()?.power_state?, choice))
}

/// Returns true if the steps use the suite's states.
fn has_steps_of_suite(id: ScenarioId) -> bool {
    matches!(id.axis(), Some(Axis::Bytes | Axis::Cpus))
}

/// Returns the state that a figure is for; None if the figure is not from a suspend.
fn state_of(scenario: &Scenario, figure: &Figure<'_>) -> Option<u32> {
    if figure.key.is_of_step() {
        figure.cell.power_state
    } else {
        state_of_suite(scenario).map(|(power_state, _)| power_state)
    }
}

/// Returns the worst cases for one state.
fn idle_state<'r>(
    logged: &LoggedRun,
    power_state: u32,
    suspends: &Suspends<'r>,
) -> Result<WorstIdleState<'r>> {
    check_all_cpus(logged, suspends)?;
    let entry = worst(suspends.latencies(logged, ENTRY)).with_context(|| {
        format!(
            "power_state {power_state:#010x}: its entry latency was not measured; this needs the \
             firmware's timestamps (ENABLE_RUNTIME_INSTRUMENTATION=1, ENABLE_PMF=1)"
        )
    })?;
    let exit = worst(suspends.latencies(logged, EXIT)).with_context(|| {
        format!("power_state {power_state:#010x}: its exit latency was not measured")
    })?;
    let choices: Vec<StateChoice> = suspends
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
        timer: timer_in_state(logged, suspends),
        entry,
        exit,
    })
}

/// Rejects a state that was not measured on every CPU. Sweeps are not checked, because they may
/// have steps with fewer CPUs.
fn check_all_cpus(logged: &LoggedRun, suspends: &Suspends<'_>) -> Result<()> {
    let keys = suspends
        .figures
        .iter()
        .map(|(scenario, _)| *scenario)
        .chain(suspends.scenarios.iter().copied())
        .map(|scenario| (scenario.id, scenario.method))
        .unique()
        .filter(|(id, _)| !has_steps_of_suite(*id));
    for ((id, method), cpu) in keys.cartesian_product(logged.run.cpu_indices()) {
        // The figures for a CPU that is the helper in some rounds come from rounds with a different
        // helper.
        let is_measured = suspends.figures.iter().any(|(scenario, figure)| {
            let is_shown = figure.key.is_of_step() || figure.shown.is_some();
            let is_same = scenario.id == id && scenario.method == method;
            is_same && figure.cpu == cpu && is_shown
        });
        ensure!(
            is_measured,
            "{}: {} has no sample from CPU {}, which may be the worst case",
            logged.source.input,
            id,
            logged.run.label(cpu)
        );
    }
    Ok(())
}

impl<'r> Suspends<'r> {
    /// Returns the longest sample and the cold sample of each figure that measures one of these
    /// metrics, which are [`ENTRY`] or [`EXIT`].
    pub fn latencies(
        &self,
        logged: &LoggedRun,
        metrics: &[Metric],
    ) -> impl Iterator<Item = Latency<'r>> {
        let measured = self.figures.iter().filter(|(scenario, figure)| {
            let metric = figure.key.metric;
            let is_undelayed = metric != Metric::Wake || is_woken_alone(logged, scenario, figure);
            is_undelayed && metrics.contains(&metric)
        });
        measured.flat_map(|&(scenario, figure)| {
            let longest = figure
                .summary
                .filter(|summary| summary.n > 0)
                .map(|summary| summary.max / u64::from(figure.key.per()));
            let has_cold = figure.key.metric != Metric::Wake;
            let cold = figure.series.cold.filter(|_| has_cold);
            [(longest, false), (cold, true)]
                .into_iter()
                .filter_map(move |(ticks, is_cold)| {
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
pub fn worst<'r>(latencies: impl Iterator<Item = Latency<'r>>) -> Option<Latency<'r>> {
    // `min_by_key` returns the first of equal elements, `max_by_key` the last.
    latencies.min_by_key(|latency| Reverse(latency.ticks))
}

/// Returns the source that woke the CPUs in one of the suite's scenarios.
fn wake_source(scenario: &Scenario) -> WakeSource {
    let conditions = scenario.conditions.as_ref();
    conditions.map_or_else(WakeSource::default, |conditions| conditions.wake_source)
}

/// Returns true if each CPU in a scenario is woken by its own timer rather than by the lead's SGI.
fn wakes_itself(logged: &LoggedRun, scenario: &Scenario) -> bool {
    // A CPU that suspends alone is never woken by an SGI, regardless of the pattern.
    (!is_chain(logged, scenario) || !scenario.id.is_parallel())
        && wake_source(scenario) == WakeSource::OwnTimers
}

/// Returns true if, in a parallel round, the lead wakes the other CPUs one after another.
fn is_chain(logged: &LoggedRun, scenario: &Scenario) -> bool {
    let plan = logged.run.plan.as_ref();
    let pattern = plan.map(|plan| plan.wake_by(scenario.method));
    pattern.is_none_or(|pattern| pattern == WakePattern::Chain)
}

/// Returns true if a CPU's wake-up does not have to wait for those of other CPUs.
fn is_woken_alone(logged: &LoggedRun, scenario: &Scenario, figure: &Figure<'_>) -> bool {
    let (is_parallel, source) = if figure.key.is_of_step() {
        let is_parallel = figure.key.step.cpus == ActiveCpus::All;
        (is_parallel, figure.cell.wake_source)
    } else {
        (scenario.id.is_parallel(), Some(wake_source(scenario)))
    };
    !is_parallel || !is_chain(logged, scenario) && source == Some(WakeSource::OwnTimers)
}

/// Returns what happens to the timer in the state, as inferred from the interrupts that woke CPUs.
pub fn timer_in_state(logged: &LoggedRun, suspends: &Suspends<'_>) -> TimerInState {
    let scenarios = || suspends.scenarios.iter();
    // Each cell in a step has its own wake-up source.
    let steps = || {
        let figures = suspends.figures.iter().map(|(_, figure)| figure);
        figures.filter(|figure| figure.key.is_of_step())
    };
    let source = |step: &Figure<'_>| step.cell.wake_source.unwrap_or_default();
    let stops = scenarios().any(|scenario| wake_source(scenario) != WakeSource::OwnTimers)
        || steps().any(|step| source(step) != WakeSource::OwnTimers);
    let wakes = scenarios().any(|scenario| wakes_itself(logged, scenario))
        || steps().any(|step| step.key.step.cpus == ActiveCpus::Alone && step.series.summary.n > 0);
    if stops {
        TimerInState::Stops
    } else if wakes && logged.run.facts.is_some() {
        TimerInState::WakesCpu
    } else {
        TimerInState::NotMeasured
    }
}
