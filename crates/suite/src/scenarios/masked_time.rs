//! The `masked_time` scenario: how long each CPU cannot take an interrupt because of a call to the
//! firmware.
//!
//! A CPU makes a call while its timer expires. First, the timer expires at offsets spread evenly
//! over the call. From the offset at which the interrupt was held back longest, the search bisects
//! towards the previous offset, because an interrupt is held back longest if it falls due as soon
//! as interrupts are masked. The samples are then taken at that offset. The baseline is the latency
//! of an interrupt that falls due after the call has returned.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bench::bench::{AttemptUse, StepRounds, first_lost, lead_in, too_few};
use crate::bench::cell_state::CellState;
use crate::bench::steps::{self, Sweep};
use crate::measure::{
    Action, After, Instant, Interrupt, InterruptedCall, Metric, Outcome, Reason, Round, Summary,
    Who,
};
use crate::model::{Cell, CellStep, Run, Scenario, Series, Skip};
use crate::plan::Work;
use crate::plan::{ActiveCpus, Axis, Key, Variant};
use hardware::board::CpuIndex;
use hardware::spec::counter_value::ticks_between;
use smccc::psci::{
    PSCI_AFFINITY_INFO_64, PSCI_CPU_ON_64, PSCI_CPU_SUSPEND_64, PSCI_STAT_COUNT_64, PSCI_VERSION,
};

use crate::plan::UsedStates;

use super::descriptor::{Descriptor, requested};

pub(super) const MASKED_TIME: Descriptor = Descriptor {
    tag: "masked_time",
    name: "Interrupts held back by calls to the firmware",
    axis: Some(Axis::Function),
    is_in_all: false,
    states: UsedStates::None,
    variants: &[
        Variant::BASELINE,
        PSCI_VERSION_CALL,
        AFFINITY_INFO,
        STAT_COUNT,
        STANDBY,
        CPU_ON,
        OTHER,
    ],
    arguments: &[&[
        Key::Iterations,
        Key::Warmup,
        Key::CpuOnAfter,
        Key::Offsets,
        Key::Calls,
    ]],
    compared: &[Key::Offsets],
    // The baseline, the functions that are always called, and the plan's functions.
    cells: |size| {
        let calls = size.plan.calls.map_or(0, |calls| calls.as_slice().len());
        size.cpus * (1 + CALLS + calls)
    },
    // The samples, and as many trials as there are offsets.
    work: |size, cells| Work {
        samples: 3 * size.rounds() * cells as u64,
        ..Work::default()
    },
    explanation,
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

const PSCI_VERSION_CALL: Variant = Variant::new("psci_version");
const AFFINITY_INFO: Variant = Variant::new("affinity_info");
const STAT_COUNT: Variant = Variant::new("stat_count");
const STANDBY: Variant = Variant::new("standby");
const CPU_ON: Variant = Variant::new("cpu_on");
/// A function selected by `calls=`.
const OTHER: Variant = Variant::new("call");

/// The number of functions that are called without `calls=`.
const CALLS: usize = 5;

fn explanation(run: &Run, scenario: &Scenario) -> String {
    requested(run, scenario)
        + "Masked is the time from the instant at which an interrupt falls due, early in the call, \
           to its handler, less the baseline. "
}

/// How many times a trial is repeated before the CPU is given up for this call.
const TRIES: u32 = 4;

/// A kind of call, and its function ID.
#[derive(Clone, Copy)]
struct MeasuredFunction {
    variant: Variant,
    function: u32,
}

/// The timing of a call on one CPU, in ticks.
#[derive(Clone, Copy)]
struct Timing {
    /// From the instant that [`Interrupt::after`] counts from to the call.
    lead: u64,
    /// From the call to its return.
    length: u64,
}

fn measure_steps(sweep: &mut Sweep<'_>) {
    if sweep.facts().gic.is_none() {
        sweep.leave_out(Skip::NoInterrupts);
        return;
    }
    measure_call(sweep, None);
    let call = |variant, function| MeasuredFunction { variant, function };
    let states = sweep.bench.setting.states;
    let has_standby = states.accepted.iter().any(|state| !state.powerdown);
    let has_statistics = sweep.facts().stat;
    for (called, is_possible) in [
        (call(PSCI_VERSION_CALL, PSCI_VERSION), true),
        (call(AFFINITY_INFO, PSCI_AFFINITY_INFO_64), true),
        (call(STAT_COUNT, PSCI_STAT_COUNT_64), has_statistics),
        (call(STANDBY, PSCI_CPU_SUSPEND_64), has_standby),
        (call(CPU_ON, PSCI_CPU_ON_64), true),
    ] {
        if is_possible {
            measure_call(sweep, Some(called));
        }
    }
    let calls = sweep.bench.setting.plan.calls;
    for function in calls.iter().flat_map(|calls| calls.as_slice()) {
        measure_call(sweep, Some(call(OTHER, *function)));
    }
}

/// Measures a call on each CPU, or the baseline.
fn measure_call(sweep: &mut Sweep<'_>, called: Option<MeasuredFunction>) {
    for cpu in CpuIndex::all(sweep.bench.cells.len()) {
        let Some(call) = call_on(sweep, called, cpu) else {
            continue;
        };
        sweep
            .bench
            .begin_step(StepRounds::new(ActiveCpus::Alone, Action::Interrupt));
        let mut masked = Masked { sweep, cpu, call };
        match called {
            None => masked.measure_baseline(),
            Some(called) => masked.measure(called),
        }
        let bench = &sweep.bench;
        let (conditions, plan) = (&mut sweep.conditions, bench.setting.plan);
        conditions.attempts += bench.attempts;
        conditions.trials += bench.trials;
        let valid = bench.cells[cpu.index()].valid();
        let lost = first_lost(bench.machine, bench.cells.len());
        let failure = lost.or(too_few(cpu, valid, plan.iterations));
        sweep.failure = sweep.failure.or(failure);
        sweep.is_measured = true;
    }
}

/// Returns the call that a CPU makes, or None if it cannot make it.
fn call_on(
    sweep: &Sweep<'_>,
    called: Option<MeasuredFunction>,
    cpu: CpuIndex,
) -> Option<InterruptedCall> {
    let bench = &sweep.bench;
    let cpus = bench.setting.cpus;
    if bench.machine.is_lost(cpu) {
        return None;
    }
    let MeasuredFunction {
        variant,
        function: id,
    } = called.unwrap_or(MeasuredFunction {
        variant: PSCI_VERSION_CALL,
        function: PSCI_VERSION,
    });
    let first_state = |powerdown| {
        let mut states = bench.setting.states.accepted.iter();
        let first = states.find(|state| state.powerdown == powerdown);
        first.map_or(0, |state| u64::from(state.power_state))
    };
    let mpidr = cpus[cpu.index()].mpidr.map_or(0, |mpidr| mpidr.number());
    let arguments = match variant {
        CPU_ON => {
            let lead = bench.lead();
            let is_off = |other: &CpuIndex| {
                *other != cpu && *other != lead && !bench.machine.is_lost(*other)
            };
            let targets = || CpuIndex::all(cpus.len()).filter(is_off);
            let next = targets().find(|other| *other > cpu);
            let target = next.or(targets().next())?;
            let settling = bench.us(bench.setting.plan.cpu_on_after.into());
            return Some(InterruptedCall::CpuOn { target, settling });
        }
        AFFINITY_INFO => [mpidr, 0, 0],
        STAT_COUNT => [mpidr, first_state(true), 0],
        STANDBY => [first_state(false), 0, 0],
        _ => [0; 3],
    };
    Some(InterruptedCall::Function { id, arguments })
}

/// A call that is being measured on one CPU.
struct Masked<'s, 'm> {
    sweep: &'s mut Sweep<'m>,
    cpu: CpuIndex,
    call: InterruptedCall,
}

impl Masked<'_, '_> {
    /// Runs a round in which the interrupt falls due after `after` ticks.
    fn run(&mut self, after: u64) -> Outcome {
        let (call, who) = (self.call, Who::Only(self.cpu));
        let bench = &mut self.sweep.bench;
        let lead_in = lead_in(bench.machine.facts(), who, bench.cells.len());
        let round = Round {
            interrupt: Some(Interrupt { call, after }),
            quiet: bench.sleep.quiet,
            after: After::Stay,
            ..Round::new(who, Action::Interrupt, lead_in)
        };
        bench.machine.run(&round, &mut bench.outcomes);
        bench.outcomes[self.cpu.index()]
    }

    /// Runs a trial until it succeeds. If it never does, the CPU has no samples for this call, so the
    /// last rejection is counted.
    fn try_at(&mut self, after: u64) -> Option<Outcome> {
        for _ in 0..TRIES {
            let outcome = self.run(after);
            let bench = &mut self.sweep.bench;
            bench.trials += 1;
            let verdict = bench.judge_attempt(self.cpu, &outcome, AttemptUse::WarmUp);
            if verdict.is_ok() {
                return Some(outcome);
            }
            if verdict.is_err_and(|rejection| rejection.reason == Reason::LateReturn) {
                bench.sleep.lengthen_quiet(outcome.lateness());
            }
        }
        let bench = &mut self.sweep.bench;
        let outcome = bench.outcomes[self.cpu.index()];
        let _ = bench.judge_attempt(self.cpu, &outcome, AttemptUse::Measure);
        None
    }

    /// Takes the samples. In each one, the interrupt falls due after the number of ticks that
    /// `after` returns for the sample's number.
    fn sample(&mut self, after: impl Fn(u64) -> u64) {
        let iterations = self.sweep.bench.setting.plan.iterations;
        let mut attempts = 0;
        while self.cell_state().valid() < iterations
            && !self.sweep.bench.retries_are_exhausted(attempts)
            && !self.sweep.bench.machine.is_lost(self.cpu)
        {
            attempts += 1;
            let outcome = self.run(after(attempts.into()));
            let _ = self
                .sweep
                .bench
                .judge_attempt(self.cpu, &outcome, AttemptUse::Measure);
        }
        self.sweep.bench.attempts += attempts;
    }

    /// Returns the state of the CPU's current step.
    fn cell_state(&self) -> &CellState {
        &self.sweep.bench.cells[self.cpu.index()]
    }

    /// Takes samples of an interrupt that no call holds back.
    fn measure_baseline(&mut self) {
        let far = self.sweep.bench.sleep.quiet / 2;
        // The CPU waits in a loop, in which the interrupt falls due at different instructions.
        self.sample(|sample| far + sample);
        self.add_cell(None, &[Metric::Entry]);
    }

    /// Takes samples at the offset at which the call holds back an interrupt longest.
    fn measure(&mut self, called: MeasuredFunction) {
        if let Some(timing) = self.timing(called)
            && let Some(after) = self.find_longest(timing)
        {
            self.sample(|_| after);
        }
        self.add_cell(Some(called), &[Metric::Call, Metric::Masked]);
    }

    /// Returns the baseline's cell for this CPU.
    fn baseline(&self) -> Option<&Cell> {
        let is_baseline =
            |cell: &&Cell| cell.cpu == self.cpu && cell.step.variant == Variant::BASELINE;
        self.sweep.bench.results.iter().find(is_baseline)
    }

    /// Measures a call that no interrupt disturbs. A standby call is measured with an interrupt
    /// that falls due before the CPU sleeps.
    fn timing(&mut self, called: MeasuredFunction) -> Option<Timing> {
        let shown = self.baseline()?.shown?;
        let lead = u64::try_from(shown.at(Instant::Before)?).ok()?;
        let version = shown.metric(Metric::Call)?;
        let mut after = match called.variant {
            STANDBY => lead + version / 2,
            _ => self.sweep.bench.sleep.quiet / 2,
        };
        for _ in 0..TRIES {
            let outcome = self.try_at(after)?;
            let length = outcome.metric(Metric::Call, false)?;
            if called.variant == STANDBY || outcome.after < outcome.due {
                return Some(Timing { lead, length });
            }
            after = lead + 2 * length;
            self.sweep.bench.sleep.lengthen_quiet(2 * length);
        }
        None
    }

    /// Returns the offset at which the interrupt is held back longest.
    fn find_longest(&mut self, timing: Timing) -> Option<u64> {
        let offsets = u64::from(self.sweep.bench.setting.plan.offsets);
        let (mut longest, mut longest_at) = (0, timing.lead);
        let mut below = timing.lead;
        let mut previous = timing.lead;
        for nth in 0..offsets {
            let after = timing.lead + timing.length * nth / offsets;
            let latency = self.latency(after)?;
            if latency > longest {
                (longest, longest_at) = (latency, after);
                below = previous;
            }
            previous = after;
        }
        while longest_at - below > 1 {
            let middle = below.midpoint(longest_at);
            let latency = self.latency(middle)?;
            if latency > longest {
                (longest, longest_at) = (latency, middle);
            } else {
                below = middle;
            }
        }
        Some(longest_at)
    }

    /// Returns the ticks from the instant at which the interrupt falls due to its handler.
    fn latency(&mut self, after: u64) -> Option<u64> {
        let outcome = self.try_at(after)?;
        Some(ticks_between(outcome.due, outcome.entered))
    }

    /// Adds the CPU's cell, without a call for the baseline. The cell has at least one series.
    fn add_cell(&mut self, called: Option<MeasuredFunction>, metrics: &[Metric]) {
        let baseline = self.baseline().and_then(|cell| cell.figure(Metric::Entry));
        let bench = &mut self.sweep.bench;
        let state = &mut bench.cells[self.cpu.index()];
        let mut series = Vec::with_capacity(metrics.len());
        for metric in metrics {
            let summary = match metric {
                Metric::Masked => {
                    let entry = state.summary(Metric::Entry, false, &mut bench.column);
                    less(entry, baseline.unwrap_or(0))
                }
                metric => state.summary(*metric, false, &mut bench.column),
            };
            series.push(Series::of(*metric, summary));
        }
        state.show_median(false, &mut bench.column);
        let step = called.map_or(CellStep::of(Variant::BASELINE), |called| CellStep {
            value: Some(called.function.into()),
            ..CellStep::of(called.variant)
        });
        let mut cell = Cell::new(self.cpu, step);
        cell.counts = Some(state.counts());
        cell.lost = state.cell.lost;
        cell.shown = state.cell.shown;
        cell.samples = state.samples(bench.setting.plan.sends_samples(), false);
        cell.series = series;
        bench.results.push(cell);
    }
}

/// Returns the statistics of the same samples, each less `ticks`.
fn less(summary: Summary, ticks: u64) -> Summary {
    let less = |figure: u64| figure.saturating_sub(ticks);
    Summary {
        min: less(summary.min),
        median: less(summary.median),
        p99: summary.p99.map(less),
        max: less(summary.max),
        ..summary
    }
}
