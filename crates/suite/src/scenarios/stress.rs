//! The `stress` scenario: random calls on all CPUs at once, for as long as requested. The same seed
//! gives the same calls. The first violation ends the scenario, and the last calls of each CPU are
//! printed. It measures nothing.
//!
//! The time is divided into slices of a few seconds. Each slice has a seed of its own, so that a
//! violation can be repeated in a short run.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use hardware::board::CpuIndex;
use hardware::spec::ticks::Clock;

use crate::bench::memory::checks_bytes;
use crate::bench::{Request, Setting, lead_in};
use crate::measure::{
    Action, ActionDetails, ActionEnd, AfterRound, Machine, Outcome, Participants, RECENT_CALLS,
    RecentCall, Round, STRESS_STATES, Spans, Stress, StressCall, StressViolation, Stressed,
    Violation,
};
use crate::model::{Check, CheckEnd, Function, Label, Rule, Scenario, ScenarioKey, Skip, Status};
use crate::plan::{Group, Key, NotCounted, UsedStates, Work};

use super::descriptor::Descriptor;

/// The longest slice, in seconds.
const SLICE_S: u32 = 4;
/// The number of slices from one line of progress to the next.
const PROGRESS: u32 = 5;
/// The functions that CPUs call, by the kind of the call.
const FUNCTIONS: [Function; StressCall::KINDS] = [
    Function::CpuSuspend,
    Function::CpuOn,
    Function::CpuOff,
    Function::AffinityInfo,
];

pub(super) const RANDOM_CALLS: &Rule = &Rule {
    key: "random-calls",
    title: "random calls",
    statement: "Whatever CPUs call at the same time, each answer is right for some order of the \
                calls, each CPU that is turned on arrives once, and each suspended CPU wakes up.",
    section: Some("5"),
    ..Rule::NONE
};

pub(super) const STRESS: Descriptor = Descriptor {
    tag: "stress",
    name: "Random calls on all CPUs",
    group: Group::None,
    is_in_all: false,
    states: UsedStates::All,
    arguments: &[&[Key::Seed, Key::Duration]],
    columns: &[],
    variants: &[],
    not_counted: NotCounted::Nothing,
    // Each function, and each CPU that is lost.
    cells: |size| StressCall::KINDS + size.cpus,
    heap: |size, checks| checks_bytes(checks, size.cpus),
    work: |size, _| Work {
        timers_s: size.plan.duration.into(),
        ..Work::default()
    },
    measure,
    ..Descriptor::SUITE
};

/// What all slices so far have found.
struct Totals {
    calls: [u64; StressCall::KINDS],
    checks: Vec<Check>,
}

fn measure(request: Request<'_>) -> Result<Vec<Scenario>, fmt::Error> {
    let Request {
        machine,
        setting,
        key,
        out,
    } = request;
    let why_not = match machine.facts() {
        facts if facts.gic.is_none() => Some(Skip::NoGic),
        facts => facts.no_cpu_off.map(Skip::NoCpuOff),
    };
    if let Some(why) = why_not.or((setting.cpus.len() == 1).then_some(Skip::OneCpu)) {
        return Ok(alloc::vec![Scenario {
            status: Status::Skipped(why),
            ..Scenario::new(key)
        }]);
    }
    let totals = run_slices(machine, setting, out)?;
    turn_off(machine, setting);
    Ok(alloc::vec![finish(totals, key)])
}

fn run_slices(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    out: &mut dyn Write,
) -> Result<Totals, fmt::Error> {
    let mut outcomes = alloc::vec![Outcome::default(); setting.cpus.len()];
    let mut totals = Totals {
        calls: [0; StressCall::KINDS],
        checks: Vec::with_capacity(StressCall::KINDS + setting.cpus.len()),
    };
    let (duration, mut seed) = (setting.plan.duration, setting.plan.seed);
    let states = states(setting);
    for begin in (0..duration).step_by(SLICE_S as usize) {
        let stress = Stress { seed, states };
        let end = duration.min(begin + SLICE_S);
        let round = round(machine, setting, stress, end - begin);
        machine.run_round(&round, &mut outcomes);
        seed = seed.wrapping_add(1);
        totals.add(machine, &outcomes, stress.seed);
        if !totals.checks.is_empty() {
            print_recent_calls(machine, setting, out)?;
            return Ok(totals);
        }
        if end.is_multiple_of(PROGRESS * SLICE_S) {
            let calls: u64 = totals.calls.iter().sum();
            writeln!(out, "  {end} of {duration} s: {calls} calls ...")?;
        }
    }
    Ok(totals)
}

/// Returns the states that CPUs suspend to: those from which each CPU's own timer wakes it.
fn states(setting: Setting<'_>) -> [Option<u32>; STRESS_STATES] {
    let accepted = setting.states.accepted.iter();
    let usable = accepted
        .filter(|state| !state.timer_stops && setting.wake_sources.skip(Some(**state)).is_none());
    let mut states = [None; STRESS_STATES];
    for (entry, state) in states.iter_mut().zip(usable) {
        *entry = Some(state.power_state);
    }
    states
}

fn round(machine: &dyn Machine, setting: Setting<'_>, stress: Stress, seconds: u32) -> Round {
    let facts = machine.facts();
    let participants = Participants::All;
    let spans = Spans {
        lead_in: lead_in(facts, participants, setting.cpus.len()),
        sleep: facts.ticks(1_000_000) * u64::from(seconds),
        ..Spans::default()
    };
    Round {
        afterwards: AfterRound::Stay,
        ..Round::new(participants, stress, spans)
    }
}

/// Turns off all CPUs except the lead, as other scenarios expect.
fn turn_off(machine: &mut dyn Machine, setting: Setting<'_>) {
    let cpus = setting.cpus.len();
    let lead_in = lead_in(machine.facts(), Participants::All, cpus);
    let round = Round::new(Participants::All, Action::None, Spans::new(lead_in));
    machine.run_round(&round, &mut alloc::vec![Outcome::default(); cpus]);
}

impl Totals {
    /// Adds the outcomes of a slice. After a violation, CPUs that are lost are its consequence.
    fn add(&mut self, machine: &dyn Machine, outcomes: &[Outcome], seed: u32) {
        let by_cpu = || CpuIndex::all(outcomes.len()).zip(outcomes);
        for (cpu, outcome) in by_cpu() {
            if let ActionDetails::Stress(Stressed { calls, violation }) = outcome.details {
                for (total, count) in self.calls.iter_mut().zip(calls) {
                    *total += u64::from(count);
                }
                if let Some(what) = violation
                    && let Some(call) = machine.recent_call(cpu, 0)
                {
                    self.add_violation(cpu, call, StressViolation { what, seed });
                }
            }
        }
        if !self.checks.is_empty() {
            return;
        }
        let lost = || by_cpu().filter(|(_, outcome)| matches!(outcome.end, ActionEnd::Lost(_)));
        for (cpu, outcome) in lost() {
            if let Some(function) = call_of(machine, cpu) {
                let end = CheckEnd::no_effect(outcome);
                self.add_check(cpu, Check::new(function, RANDOM_CALLS, end));
            }
        }
        // If a call never returns, CPU_ON may wait for it.
        if self.checks.is_empty() {
            let what = Violation::NotArrived;
            let end = CheckEnd::Violation(StressViolation { what, seed });
            for (cpu, _) in lost() {
                self.add_check(cpu, Check::new(Function::CpuOn, RANDOM_CALLS, end));
            }
        }
    }

    fn add_violation(&mut self, caller: CpuIndex, call: RecentCall, violation: StressViolation) {
        // The check is about the CPU that the call is for.
        let cpu = match call.call {
            StressCall::CpuOn(target) | StressCall::AffinityInfo(target) => target,
            StressCall::CpuOff | StressCall::Suspend(_) => caller,
        };
        let end = CheckEnd::Violation(violation);
        let check = Check {
            answer: call.answer,
            ..Check::new(FUNCTIONS[call.call.kind()], RANDOM_CALLS, end)
        };
        self.add_check(cpu, check);
    }

    fn add_check(&mut self, cpu: CpuIndex, mut check: Check) {
        check.promised = Some(true);
        check.insert(cpu);
        self.checks.push(check);
    }
}

/// Returns the function whose call has not returned on a lost CPU. None if the CPU was off, or if
/// all of its calls have returned: then CPU_ON has lost it.
fn call_of(machine: &dyn Machine, cpu: CpuIndex) -> Option<Function> {
    let last = machine.recent_call(cpu, 0)?;
    let has_returned = last.answer.is_some() || matches!(last.call, StressCall::CpuOff);
    (!has_returned).then_some(FUNCTIONS[last.call.kind()])
}

/// Returns the scenario, with the number of calls of each function if all were right.
fn finish(totals: Totals, key: ScenarioKey) -> Scenario {
    let Totals { calls, mut checks } = totals;
    let failed: Vec<Function> = checks.iter().map(|check| check.function).collect();
    for (function, count) in FUNCTIONS.into_iter().zip(calls) {
        if count > 0 && !failed.contains(&function) {
            checks.push(Check {
                value: Some(u32::try_from(count).unwrap_or(u32::MAX)),
                promised: Some(true),
                ..Check::new(function, RANDOM_CALLS, CheckEnd::Works)
            });
        }
    }
    Scenario::of_checks(key, checks)
}

/// Prints each CPU's last calls, newest last.
fn print_recent_calls(
    machine: &dyn Machine,
    setting: Setting<'_>,
    out: &mut dyn Write,
) -> fmt::Result {
    let clock = machine.facts().clock();
    for cpu in CpuIndex::all(setting.cpus.len()) {
        let label = Label::for_cpu(setting.cpus, cpu);
        for age in (0..RECENT_CALLS).rev() {
            if let Some(call) = machine.recent_call(cpu, age) {
                write!(out, "  CPU {label} ")?;
                print_call(setting, clock, call, out)?;
            }
        }
    }
    Ok(())
}

fn print_call(
    setting: Setting<'_>,
    clock: Clock,
    RecentCall { at, call, answer }: RecentCall,
    out: &mut dyn Write,
) -> fmt::Result {
    let function = FUNCTIONS[call.kind()];
    write!(out, "after {}: {}", clock.span(at), function.name())?;
    match call {
        StressCall::Suspend(power_state) => write!(out, " {power_state:#010x}")?,
        StressCall::CpuOn(target) | StressCall::AffinityInfo(target) => {
            write!(out, " {}", Label::for_cpu(setting.cpus, target))?;
        }
        StressCall::CpuOff => {}
    }
    let check = Check {
        answer,
        ..Check::new(function, RANDOM_CALLS, CheckEnd::Works)
    };
    match check.shown_answer() {
        Some(answer) => writeln!(out, " -> {answer}"),
        None => writeln!(out, " ..."),
    }
}
