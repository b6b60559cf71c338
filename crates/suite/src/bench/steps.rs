//! Scenarios that measure PSCI under varying conditions, in steps. Each step is measured in the
//! same way as a suite scenario.

use alloc::vec::Vec;
use core::fmt;

use hardware::board::CpuIndex;
use hardware::spec::stat::Ladder;

use crate::measure::{Action, Facts, Metric, Summary};
use crate::model::{
    Cell, CellStep, Conditions, Failure, Scenario, ScenarioKey, Series, Skip, Status, WakeSource,
};
use crate::plan::{ActiveCpus, RunSize, StateChoice, Variant};

use super::bench::{Bench, BenchRoom, too_few};
use super::memory::{bench_bytes, cells_bytes, samples_bytes};
use super::request::Request;
use super::states::UsableState;
use super::step_rounds::StepRounds;
use super::tftf_suite::measure_step;

/// The maximum number of series for a CPU in a step: three for samples, and two for PSCI_STAT.
pub(crate) const SERIES_MAX: usize = 5;

/// Suspends to the deepest state.
pub(crate) const DEEPEST: Variant = StateChoice::Deepest.variant();
/// Suspends to the core state.
pub(crate) const CORE: Variant = StateChoice::Core.variant();
pub(crate) const DEEPEST_AND_CORE: [Variant; 2] = [DEEPEST, CORE];

/// Returns the heap that a scenario of steps needs.
pub(crate) fn heap(size: &RunSize<'_>, cells: usize) -> usize {
    let iterations = size.plan.iterations as usize;
    let samples = samples_bytes(size.plan) * cells;
    bench_bytes(size.cpus, iterations, 0) + samples + cells_bytes(cells, SERIES_MAX)
}

/// A running scenario that consists of steps.
pub(crate) struct Steps<'m> {
    pub(crate) bench: Bench<'m>,
    conditions: Conditions,
    /// The first failure of a step.
    failure: Option<Failure>,
    /// True if at least one step was measured.
    is_measured: bool,
}

/// Measures a scenario whose steps are run by `measure_steps`.
///
/// # Errors
/// Never returns an error, because nothing is printed.
pub(crate) fn measure(
    request: Request<'_>,
    measure_steps: fn(&mut Steps<'_>),
) -> Result<Vec<Scenario>, fmt::Error> {
    let (key, plan) = (request.key, request.setting.plan);
    let room = BenchRoom {
        outcomes: plan.iterations as usize,
        ..BenchRoom::for_cells(&request)
    };
    let bench = Bench::new(request, room);
    let mut steps = Steps {
        conditions: Conditions {
            pmf: bench.has_pmf(),
            requested_samples: plan.iterations,
            ..Conditions::default()
        },
        bench,
        failure: None,
        is_measured: false,
    };
    measure_steps(&mut steps);
    Ok(alloc::vec![steps.finish(key)])
}

impl Steps<'_> {
    /// Returns the scenario's results.
    fn finish(self, key: ScenarioKey) -> Scenario {
        let states = self.bench.setting().states;
        let mut conditions = self.conditions;
        let left_out = conditions
            .states_left_out
            .map(|reason| states.explain(reason));
        conditions.states_left_out = left_out;
        let status = match (self.failure, self.is_measured) {
            (Some(failure), _) => Status::Failed(failure),
            (None, true) => Status::Passed,
            (None, false) => {
                conditions.states_left_out = None;
                Status::Skipped(left_out.unwrap_or(states.explain(Skip::NoIdleState)))
            }
        };
        Scenario {
            status,
            conditions: Some(conditions),
            cells: self.bench.into_results(),
            ..Scenario::new(key)
        }
    }

    pub(crate) fn facts(&self) -> &Facts {
        self.bench.facts()
    }

    /// Returns the state if CPUs can be suspended to it.
    pub(crate) fn usable(&mut self, state: Option<UsableState>) -> Option<UsableState> {
        if let Some(why) = self.bench.setting().wake_sources.skip(state) {
            self.leave_out(why);
            return None;
        }
        state
    }

    /// Records why states were left out. The first reason counts.
    pub(crate) fn leave_out(&mut self, why: Skip) {
        self.conditions.states_left_out.get_or_insert(why);
    }

    /// Records why OS-initiated mode was left out.
    pub(crate) fn leave_out_mode(&mut self, why: Skip) {
        self.conditions.mode_left_out = Some(why);
    }

    /// Records a failure of the scenario. The first failure counts.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Calls `measure` for each usable idle state in the device tree. For all other states, adds a
    /// cell with the scenario's first metric.
    pub(crate) fn measure_each_state(
        &mut self,
        first: Metric,
        measure: fn(&mut Steps<'_>, UsableState),
    ) {
        let states = self.bench.setting().states;
        for state in &states.foreign {
            let why = Skip::OtherFormat(states.format);
            self.leave_out(why);
            self.push_left_out(first, ActiveCpus::Alone, u64::from(*state), why);
        }
        for state in &states.accepted {
            let Some(why) = self.bench.setting().wake_sources.skip(Some(*state)) else {
                measure(self, *state);
                continue;
            };
            self.leave_out(why);
            self.push_left_out(first, ActiveCpus::Alone, state.power_state.into(), why);
        }
    }

    /// Returns the first metric of a suspend.
    pub(crate) fn suspend_metric(&self) -> Metric {
        if self.bench.has_pmf() {
            Metric::Powerdown
        } else {
            Metric::Call
        }
    }

    /// Returns steps that suspend to the deepest state and to the core state, without reading
    /// PSCI_STAT.
    pub(crate) fn deepest_and_core_steps(
        &mut self,
        cpus: ActiveCpus,
    ) -> impl Iterator<Item = (Variant, StepRounds)> + use<> {
        let states = self.bench.setting().states;
        let deepest = self.usable(states.deepest);
        let core = states
            .core
            .filter(|core| states.deepest != Some(*core))
            .and_then(|core| self.usable(Some(core)));
        let variants = [(DEEPEST, deepest), (CORE, core)];
        variants.into_iter().filter_map(move |(variant, state)| {
            let step = StepRounds {
                ladder: Ladder::default(),
                ..StepRounds::to_state(cpus, state?)
            };
            Some((variant, step))
        })
    }

    /// Adds a cell for an omitted step, with the scenario's first metric.
    pub(crate) fn push_left_out(&mut self, first: Metric, cpus: ActiveCpus, value: u64, why: Skip) {
        let step = CellStep {
            cpus,
            value: Some(value),
            ..CellStep::default()
        };
        let mut cell = Cell::new(CpuIndex::default(), step);
        cell.skipped = Some(self.bench.setting().states.explain(why));
        cell.series.reserve_exact(1);
        cell.series.push(Series::new(first));
        self.bench.push_left_out(cell);
    }

    /// Returns true if a CPU must stay awake during the step.
    pub(crate) fn needs_helper(&self, step: &StepRounds) -> bool {
        let source = self.bench.setting().wake_sources.source(step.timers_stop);
        step.cpus == ActiveCpus::All && source == WakeSource::Helper
    }

    /// Measures one step; `value` is that of the quantity being varied. Returns false if the
    /// following steps cannot be measured either.
    pub(crate) fn run_step(
        &mut self,
        variant: Variant,
        value: Option<u64>,
        step: StepRounds,
    ) -> bool {
        // One helper placement is enough for a curve, so the lead is the only helper.
        let helper = self.needs_helper(&step).then_some(self.bench.lead());
        self.bench.begin_step(StepRounds { helper, ..step });
        let status = measure_step(&mut self.bench);
        self.add_totals();
        match status {
            Status::Skipped(why) => {
                self.leave_out(why);
                return false;
            }
            Status::Failed(failure) => self.fail(failure),
            Status::Passed | Status::Crashed | Status::Unknown => self.is_measured = true,
        }
        if step.timers_stop {
            self.conditions.wake_source = self.bench.setting().wake_sources.source(true);
        }
        for cpu in CpuIndex::all(self.bench.cpu_count()) {
            self.add_cell(cpu, variant, value);
        }
        true
    }

    /// Records that one CPU's step is over, with `valid` of `requested` samples. The scenario fails
    /// if a CPU was lost or there are too few samples.
    pub(crate) fn close_step(&mut self, cpu: CpuIndex, valid: u32, requested: u32) {
        let failure = self.bench.first_lost().or(too_few(cpu, valid, requested));
        self.add_totals();
        self.failure = self.failure.or(failure);
        self.is_measured = true;
    }

    /// Adds the step's attempts and trials to the scenario's.
    fn add_totals(&mut self) {
        let totals = self.bench.totals();
        self.conditions.attempts += totals.attempts;
        self.conditions.trials += totals.trials;
    }

    /// Adds the cell for a CPU in a step. The cell has at least one series, even without samples.
    fn add_cell(&mut self, cpu: CpuIndex, variant: Variant, value: Option<u64>) {
        let bench = &mut self.bench;
        let state = bench.cell(cpu);
        if !state.needs_samples() {
            return;
        }
        let reached = state.reached();
        let rounds = *bench.step();
        let StepRounds { cpus, action, .. } = rounds;
        let step = CellStep {
            cpus,
            value,
            ..CellStep::with_variant(variant)
        };
        let metrics = rounds.metrics(bench.has_pmf());
        let mut series = Vec::with_capacity(SERIES_MAX);
        for metric in metrics {
            let summary = bench.summary(cpu, *metric);
            if summary.n > 0 {
                series.push(Series::with_summary(*metric, summary));
            }
        }
        if series.is_empty() {
            series.extend(metrics.first().copied().map(Series::new));
        }
        if let Some(reached) = reached {
            let is_requested = value.is_some() && reached.state.map(u64::from) == value;
            let count = if is_requested { reached.times } else { 0 };
            let of_one =
                |metric, figure| Series::with_summary(metric, Summary::compute(&mut [figure]));
            series.push(of_one(Metric::Count, count.into()));
            series.push(of_one(Metric::Residency, reached.residency_us.into()));
        }
        let waker = bench.waker_of(cpu);
        let cell = bench.push_cell(cpu, step, series);
        cell.helper = waker.helper();
        cell.wake_source = action.goes_down().then(|| waker.into());
        cell.power_state = match action {
            Action::Suspend { power_state, .. } => Some(power_state),
            _ => None,
        };
    }
}
