//! Turns each CPU on and off, and checks what AFFINITY_INFO returns for it at each point.

use core::fmt;

use crate::measure::{Action, ActionEnd, AfterRound, Outcome, Participants, Round, RoundPhase};
use crate::model::{Check, CheckEnd, Function, Rule, Skip};
use hardware::board::CpuIndex;
use smccc::psci::error;

use super::checks::{
    ARRIVES, Answer, CheckedCall, Fitness, GOES_OFF, IS_OFF, failed_call, returned,
};
use super::group::Group;
use super::listings::{ANSWER, IS_ON};

/// The pauses between OFF and the next CPU_ON, in microseconds, from harmless to dangerous.
const PAUSES_US: [u32; 10] = [10_000, 3_000, 1_000, 300, 100, 30, 10, 3, 1, 0];
/// The number of attempts for each pause.
const TRIES_PER_PAUSE: u32 = 3;

const PENDING: &Rule = &Rule {
    key: "pending",
    title: "immediate second call",
    permitted: Some("ALREADY_ON or ON_PENDING"),
    statement: "A second call returns ALREADY_ON, or ON_PENDING while the CPU is starting.",
    ..Rule::NONE
};

const ALREADY_ON: &Rule = &Rule {
    key: "already-on",
    title: "CPU that is on",
    permitted: Some("ALREADY_ON"),
    statement: "A call for a CPU that is on returns ALREADY_ON.",
    ..Rule::NONE
};

const AGAIN: &Rule = &Rule {
    key: "again",
    title: "on again, pause in us",
    permitted: Some("SUCCESS"),
    statement: "Once AFFINITY_INFO has returned OFF for a CPU, CPU_ON turns it on again.",
    ..Rule::NONE
};

/// CPU_ON and CPU_OFF for each CPU.
pub(super) const ON_AND_OFF: Group = Group {
    rules: &[ARRIVES, PENDING, ALREADY_ON, IS_OFF, GOES_OFF],
    check: check_cpu_on_and_off,
    ..Group::NONE
};

/// CPU_ON after shorter and shorter pauses.
pub(super) const PAUSES: Group = Group {
    rules: &[AGAIN],
    check: check_pauses,
    ..Group::NONE
};

fn check_cpu_on_and_off(fitness: &mut Fitness<'_>) -> fmt::Result {
    fitness.announce(Function::CpuOn, None)?;
    let lead = fitness.lead();
    check_again(fitness, lead);
    let mut others = fitness.others().peekable();
    if others.peek().is_none() {
        fitness.not_tried(Function::CpuOn, ARRIVES, None, Skip::OneCpu);
    }
    for cpu in others {
        check_cpu(fitness, cpu);
    }
    Ok(())
}

/// Calls CPU_ON for a CPU that is on.
fn check_again(fitness: &mut Fitness<'_>, cpu: CpuIndex) {
    let arguments = [
        fitness.mpidr(cpu).number(),
        fitness.machine.entry_point(),
        0,
    ];
    let answer = fitness.call_firmware(Function::CpuOn, arguments);
    let call = CheckedCall::new(Function::CpuOn, ALREADY_ON).for_cpu(cpu);
    fitness.add_answer(call, answer, &[error::ALREADY_ON]);
}

/// Checks that AFFINITY_INFO returns `state` for the CPU.
fn check_state(fitness: &mut Fitness<'_>, cpu: CpuIndex, rule: &'static Rule, state: Answer) {
    let target = fitness.mpidr(cpu).number();
    let answer = fitness.call_firmware(Function::AffinityInfo, [target, 0, 0]);
    let call = CheckedCall::new(Function::AffinityInfo, rule).for_cpu(cpu);
    fitness.add_answer(call, answer, &[state]);
}

/// Returns a round in which the CPU makes a harmless call and then stays on or turns off.
fn round(fitness: &Fitness<'_>, cpu: CpuIndex, afterwards: AfterRound) -> Round {
    Round {
        afterwards,
        ..fitness.plain_round(Participants::Only(cpu), Action::Version)
    }
}

/// Turns one CPU on and off.
fn check_cpu(fitness: &mut Fitness<'_>, cpu: CpuIndex) {
    check_state(fitness, cpu, IS_OFF, 1);
    let turn_on = Round {
        repeats_cpu_on: true,
        ..round(fitness, cpu, AfterRound::Stay)
    };
    let arrival = fitness.run_round(cpu, &turn_on);
    if let Some(answer) = fitness.machine.second_cpu_on() {
        let call = CheckedCall::new(Function::CpuOn, PENDING).for_cpu(cpu);
        let permitted = [error::ALREADY_ON, error::ON_PENDING];
        fitness.add_answer(call, answer, &permitted);
    }
    if !add_arrival(fitness, cpu, &arrival) {
        return;
    }
    check_state(fitness, cpu, IS_ON, 0);
    check_again(fitness, cpu);
    if let Some(why) = fitness.facts().no_cpu_off {
        let skip = CheckEnd::NotTried(Skip::NoCpuOff(why));
        fitness.add_check_for(cpu, Check::new(Function::CpuOff, GOES_OFF, skip));
        return;
    }
    let turn_off = Round {
        task: Action::Off.into(),
        ..round(fitness, cpu, AfterRound::Off)
    };
    let departure = fitness.run_round(cpu, &turn_off);
    if add_departure(fitness, cpu, &departure) {
        check_state(fitness, cpu, IS_OFF, 1);
    }
}

/// Adds the result of CPU_ON, and returns true if the CPU has arrived and made its call.
fn add_arrival(fitness: &mut Fitness<'_>, cpu: CpuIndex, outcome: &Outcome) -> bool {
    let has_arrived = matches!(outcome.end, ActionEnd::Returned);
    let end = if has_arrived {
        CheckEnd::Works
    } else {
        CheckEnd::no_effect(outcome)
    };
    let mut check = Check {
        answer: Some(0),
        ..Check::new(Function::CpuOn, ARRIVES, end)
    };
    if let ActionEnd::Lost(loss) = outcome.end {
        check.answer = returned(loss);
        // The CPU was lost during its call.
        if let RoundPhase::Begin | RoundPhase::Finish | RoundPhase::TurnOff = loss.phase {
            (check.function, check.rule) = (Function::PsciVersion, ANSWER);
        }
    }
    fitness.add_check_for(cpu, check);
    has_arrived
}

/// Adds the result of CPU_OFF, and returns true if the CPU is off.
fn add_departure(fitness: &mut Fitness<'_>, cpu: CpuIndex, outcome: &Outcome) -> bool {
    let is_off = matches!(outcome.end, ActionEnd::WentOff);
    let mut check = Check::new(Function::CpuOff, GOES_OFF, CheckEnd::Works);
    if let ActionEnd::Lost(loss) = outcome.end {
        check.answer = returned(loss);
        check.end = if fitness.machine.is_lost(cpu) {
            CheckEnd::no_effect(outcome)
        } else {
            // The CPU has stayed on, and later checks can use it.
            CheckEnd::WrongAnswer
        };
        if let Some((Function::AffinityInfo, rule)) = failed_call(loss) {
            (check.function, check.rule) = (Function::AffinityInfo, rule);
        }
    } else if !is_off {
        check.end = CheckEnd::no_effect(outcome);
    }
    fitness.add_check_for(cpu, check);
    is_off
}

/// Turns one CPU on again after shorter and shorter pauses, until it is lost. Firmware may report
/// a CPU as OFF before the CPU has reached its WFI; a CPU_ON in that gap may have no effect.
fn check_pauses(fitness: &mut Fitness<'_>) -> fmt::Result {
    let Some(cpu) = fitness.last_other() else {
        return Ok(());
    };
    if fitness.facts().no_cpu_off.is_some() {
        return Ok(());
    }
    fitness.announce(Function::CpuOn, None)?;
    // The first pause, like all others, must follow a CPU_OFF.
    fitness.run_round(cpu, &round(fitness, cpu, AfterRound::Off));
    for pause in PAUSES_US {
        let ticks = fitness.facts().ticks(pause.into());
        fitness.machine.set_cpu_on_after(ticks);
        let again = round(fitness, cpu, AfterRound::Off);
        let is_lost = (0..TRIES_PER_PAUSE).any(|_| {
            fitness.run_round(cpu, &again);
            fitness.machine.is_lost(cpu)
        });
        let outcome = fitness.outcomes[cpu.index()];
        if let (true, ActionEnd::Lost(loss)) = (is_lost, outcome.end)
            && loss.phase == RoundPhase::TurnOff
            && let Some((function, rule)) = failed_call(loss)
        {
            // The CPU came back, so this is not a result of CPU_ON.
            let check = Check {
                answer: returned(loss),
                ..Check::new(function, rule, CheckEnd::no_effect(&outcome))
            };
            fitness.add_check_for(cpu, check);
            break;
        }
        let end = if is_lost {
            CheckEnd::no_effect(&outcome)
        } else {
            CheckEnd::Works
        };
        let check = Check {
            value: Some(pause),
            ..Check::new(Function::CpuOn, AGAIN, end)
        };
        fitness.add_check_for(cpu, check);
        if is_lost {
            break;
        }
    }
    let usual_us = fitness.setting.plan.cpu_on_after;
    let usual = fitness.facts().ticks(usual_us.into());
    fitness.machine.set_cpu_on_after(usual);
    Ok(())
}
