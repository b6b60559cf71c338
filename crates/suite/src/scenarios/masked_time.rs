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

use crate::bench::AttemptUse;
use crate::bench::step_rounds::StepRounds;
use crate::bench::steps::{self, Steps};
use crate::measure::{
    Action, AfterRound, Instant, Interrupt, InterruptedCall, Metric, Outcome, Participants, Reason,
    Round, Spans, Summary, TimeSource,
};
use crate::model::{Cell, CellStep, Run, Scenario, Series, Skip};
use crate::plan::{ActiveCpus, Axis, Key, UsedStates, Variant, Work};
use hardware::board::CpuIndex;
use smccc::psci::{
    PSCI_AFFINITY_INFO_64, PSCI_CPU_ON_64, PSCI_CPU_SUSPEND_64, PSCI_STAT_COUNT_64, PSCI_VERSION,
};

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
const TRIALS_MAX: u32 = 4;

/// A kind of call, and its function ID.
#[derive(Clone, Copy)]
struct MeasuredFunction {
    variant: Variant,
    function: u32,
}

/// The timing of a call on one CPU, in ticks.
#[derive(Clone, Copy)]
struct Timing {
    /// From the instant that [`Interrupt::expires_in`] counts from to the call.
    ticks_to_call: u64,
    /// From the call to its return.
    length: u64,
}

fn measure_steps(steps: &mut Steps<'_>) {
    if steps.facts().gic.is_none() {
        steps.leave_out(Skip::NoInterrupts);
        return;
    }
    measure_call(steps, None);
    let call = |variant, function| MeasuredFunction { variant, function };
    let states = steps.bench.setting().states;
    let has_standby = states.accepted.iter().any(|state| !state.powerdown);
    let has_statistics = steps.facts().stat;
    for (called, is_possible) in [
        (call(PSCI_VERSION_CALL, PSCI_VERSION), true),
        (call(AFFINITY_INFO, PSCI_AFFINITY_INFO_64), true),
        (call(STAT_COUNT, PSCI_STAT_COUNT_64), has_statistics),
        (call(STANDBY, PSCI_CPU_SUSPEND_64), has_standby),
        (call(CPU_ON, PSCI_CPU_ON_64), true),
    ] {
        if is_possible {
            measure_call(steps, Some(called));
        }
    }
    let calls = steps.bench.plan().calls;
    for function in calls.iter().flat_map(|calls| calls.as_slice()) {
        measure_call(steps, Some(call(OTHER, *function)));
    }
}

/// Measures a call on each CPU, or the baseline.
fn measure_call(steps: &mut Steps<'_>, called: Option<MeasuredFunction>) {
    for cpu in CpuIndex::all(steps.bench.cpu_count()) {
        let Some(call) = call_on(steps, called, cpu) else {
            continue;
        };
        steps
            .bench
            .begin_step(StepRounds::new(ActiveCpus::Alone, Action::Interrupt));
        let mut masked = Masked { steps, cpu, call };
        match called {
            None => masked.measure_baseline(),
            Some(called) => masked.measure(called),
        }
        let valid = steps.bench.cell(cpu).valid();
        let iterations = steps.bench.plan().iterations;
        steps.close_step(cpu, valid, iterations);
    }
}

/// Returns the call that a CPU makes, or None if it cannot make it.
fn call_on(
    steps: &Steps<'_>,
    called: Option<MeasuredFunction>,
    cpu: CpuIndex,
) -> Option<InterruptedCall> {
    let bench = &steps.bench;
    let cpus = bench.setting().cpus;
    if bench.is_lost(cpu) {
        return None;
    }
    let MeasuredFunction {
        variant,
        function: id,
    } = called.unwrap_or(MeasuredFunction {
        variant: PSCI_VERSION_CALL,
        function: PSCI_VERSION,
    });
    let first_state = |is_powerdown| {
        let mut states = bench.setting().states.accepted.iter();
        let first = states.find(|state| state.powerdown == is_powerdown);
        first.map_or(0, |state| u64::from(state.power_state))
    };
    let mpidr = cpus[cpu.index()].mpidr.map_or(0, |mpidr| mpidr.number());
    let arguments = match variant {
        CPU_ON => {
            let lead = bench.lead();
            let is_off =
                |other: &CpuIndex| *other != cpu && *other != lead && !bench.is_lost(*other);
            let targets = || CpuIndex::all(cpus.len()).filter(is_off);
            let next = targets().find(|other| *other > cpu);
            let target = next.or(targets().next())?;
            let cpu_on_after = bench.us(bench.plan().cpu_on_after.into());
            return Some(InterruptedCall::CpuOn {
                target,
                cpu_on_after,
            });
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
    steps: &'s mut Steps<'m>,
    cpu: CpuIndex,
    call: InterruptedCall,
}

impl Masked<'_, '_> {
    /// Runs a round in which the interrupt falls due after `expires_in` ticks.
    fn run(&mut self, expires_in: u64) -> Outcome {
        let (call, participants) = (self.call, Participants::Only(self.cpu));
        let bench = &mut self.steps.bench;
        let spans = Spans {
            quiet: bench.waits.quiet(),
            ..Spans::new(bench.lead_in(participants))
        };
        bench.run_round(&Round {
            afterwards: AfterRound::Stay,
            ..Round::new(participants, Interrupt { call, expires_in }, spans)
        });
        bench.outcome(self.cpu)
    }

    /// Runs a trial until it succeeds. If it never does, the CPU has no samples for this call, so the
    /// last rejection is counted.
    fn try_at(&mut self, expires_in: u64) -> Option<Outcome> {
        for _ in 0..TRIALS_MAX {
            let outcome = self.run(expires_in);
            let bench = &mut self.steps.bench;
            bench.count_trial();
            let rejection = bench.judge_attempt(self.cpu, &outcome, AttemptUse::WarmUp);
            let Some(rejection) = rejection else {
                return Some(outcome);
            };
            if rejection.reason == Reason::LateReturn {
                bench.waits.lengthen_quiet(outcome.lateness());
            }
        }
        let outcome = self.steps.bench.outcome(self.cpu);
        self.record_sample(&outcome);
        None
    }

    /// Keeps an outcome as a sample, or counts its rejection.
    fn record_sample(&mut self, outcome: &Outcome) {
        let bench = &mut self.steps.bench;
        bench.judge_attempt(self.cpu, outcome, AttemptUse::Measure);
    }

    /// Takes the samples. In each one, the interrupt falls due after the number of ticks that
    /// `expires_in` returns for the sample's number.
    fn sample(&mut self, expires_in: impl Fn(u64) -> u64) {
        let iterations = self.steps.bench.plan().iterations;
        while self.steps.bench.cell(self.cpu).valid() < iterations
            && !self.steps.bench.retries_are_exhausted(self.attempts())
            && !self.steps.bench.is_lost(self.cpu)
        {
            self.steps.bench.count_attempt();
            let outcome = self.run(expires_in(self.attempts().into()));
            self.record_sample(&outcome);
        }
    }

    /// Returns the number of attempts in the current step.
    fn attempts(&self) -> u32 {
        self.steps.bench.totals().attempts
    }

    /// Takes samples of an interrupt that no call holds back.
    fn measure_baseline(&mut self) {
        let far = self.steps.bench.waits.quiet() / 2;
        // The CPU waits in a loop, in which the interrupt falls due at different instructions.
        self.sample(|sample| far + sample);
        self.add_cell(None, &[Metric::Entry]);
    }

    /// Takes samples at the offset at which the call holds back an interrupt longest.
    fn measure(&mut self, called: MeasuredFunction) {
        if let Some(timing) = self.timing(called)
            && let Some(expires_in) = self.find_longest(timing)
        {
            self.sample(|_| expires_in);
        }
        self.add_cell(Some(called), &[Metric::Call, Metric::Masked]);
    }

    /// Returns the baseline's cell for this CPU.
    fn baseline(&self) -> Option<&Cell> {
        let is_baseline =
            |cell: &&Cell| cell.cpu == self.cpu && cell.step.variant == Variant::BASELINE;
        self.steps.bench.results().iter().find(is_baseline)
    }

    /// Measures a call that no interrupt disturbs. A standby call is measured with an interrupt
    /// that falls due before the CPU sleeps.
    fn timing(&mut self, called: MeasuredFunction) -> Option<Timing> {
        let shown = self.baseline()?.shown?;
        let ticks_to_call = u64::try_from(shown.at(Instant::Before)?).ok()?;
        let version = shown.metric(Metric::Call)?;
        let mut expires_in = match called.variant {
            STANDBY => ticks_to_call + version / 2,
            _ => self.steps.bench.waits.quiet() / 2,
        };
        for _ in 0..TRIALS_MAX {
            let outcome = self.try_at(expires_in)?;
            let length = outcome.metric(Metric::Call, TimeSource::Counter)?;
            if called.variant == STANDBY || outcome.returned_at < outcome.due() {
                return Some(Timing {
                    ticks_to_call,
                    length,
                });
            }
            expires_in = ticks_to_call + 2 * length;
            self.steps.bench.waits.lengthen_quiet(2 * length);
        }
        None
    }

    /// Returns the offset at which the interrupt is held back longest.
    fn find_longest(&mut self, timing: Timing) -> Option<u64> {
        let offsets = u64::from(self.steps.bench.plan().offsets);
        let (mut longest, mut longest_at) = (0, timing.ticks_to_call);
        let mut below = timing.ticks_to_call;
        let mut previous = timing.ticks_to_call;
        for nth in 0..offsets {
            let expires_in = timing.ticks_to_call + timing.length * nth / offsets;
            let latency = self.latency(expires_in)?;
            if latency > longest {
                (longest, longest_at) = (latency, expires_in);
                below = previous;
            }
            previous = expires_in;
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
    fn latency(&mut self, expires_in: u64) -> Option<u64> {
        let outcome = self.try_at(expires_in)?;
        let latency = outcome.metric(Metric::Entry, TimeSource::Counter);
        Some(latency.unwrap_or(0))
    }

    /// Adds the CPU's cell, without a call for the baseline. The cell has at least one series.
    fn add_cell(&mut self, called: Option<MeasuredFunction>, metrics: &[Metric]) {
        let baseline = self.baseline().and_then(|cell| cell.figure(Metric::Entry));
        let bench = &mut self.steps.bench;
        let mut series = Vec::with_capacity(metrics.len());
        for metric in metrics {
            let summary = match metric {
                Metric::Masked => {
                    let entry = bench.summary(self.cpu, Metric::Entry);
                    less(entry, baseline.unwrap_or(0))
                }
                metric => bench.summary(self.cpu, *metric),
            };
            series.push(Series::with_summary(*metric, summary));
        }
        bench.show_median(self.cpu);
        let step = called.map_or(CellStep::with_variant(Variant::BASELINE), |function| {
            CellStep {
                value: Some(function.function.into()),
                ..CellStep::with_variant(function.variant)
            }
        });
        bench.push_cell(self.cpu, step, series);
    }
}

/// Returns the statistics of the same samples, each less `ticks`.
fn less(summary: Summary, ticks: u64) -> Summary {
    let less_ticks = |figure: u64| figure.saturating_sub(ticks);
    Summary {
        min: less_ticks(summary.min),
        median: less_ticks(summary.median),
        p99: summary.p99.map(less_ticks),
        max: less_ticks(summary.max),
        ..summary
    }
}
