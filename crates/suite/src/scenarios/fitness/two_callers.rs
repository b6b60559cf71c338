//! CPU_ON for the same CPU, called by two CPUs at the same time.

use core::fmt;

use super::checks::{Answer, CheckedCall, Fitness, IS_OFF, OFF};
use super::group::Group;
use crate::bench::trials::last_other_before;
use crate::measure::{Action, ActionEnd, LoneCall, Part, Participants, Roles, Round};
use crate::model::{Check, CheckEnd, Function, Rule};
use hardware::board::CpuIndex;
use smccc::psci::error::{ALREADY_ON, ON_PENDING};

/// The number of rounds. In each, the second caller is later in relation to the first.
const TRIES: u64 = 16;
/// The step from one round to the next, in microseconds.
const STEP_US: u64 = 1;

const TWO_CALLERS: &Rule = &Rule {
    key: "two-callers",
    title: "two callers at once",
    permitted: Some("ALREADY_ON or ON_PENDING for the second caller"),
    statement: "If several CPUs call CPU_ON for the same CPU, it starts once. One call returns \
                SUCCESS; the others return ON_PENDING or ALREADY_ON.",
    section: Some("5.6"),
    ..Rule::NONE
};

/// Rounds in which the lead and another CPU turn on a third one.
pub(super) const GROUP: Group = Group {
    rules: &[TWO_CALLERS],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    let function = Function::CpuOn;
    if fitness.facts().no_cpu_off.is_some() {
        return Ok(());
    }
    let target = fitness.last_other();
    let caller = last_other_before(fitness.machine, fitness.setting.cpus, target);
    let (Some(target), Some(caller)) = (target, caller) else {
        return fitness.lacks_cpus(function, TWO_CALLERS);
    };
    fitness.announce(function, None)?;
    for step in 0..TRIES {
        let round = round(fitness, caller, target, step);
        let lost = fitness.lost();
        fitness.run_round(target, &round);
        let codes = [fitness.lead(), caller].map(|cpu| fitness.outcomes[cpu.index()].code);
        let [Some(first), Some(second)] = codes else {
            fitness.add_losses_since(&lost);
            return Ok(());
        };
        let target_end = fitness.outcomes[target.index()];
        let end = if !is_permitted(first, second) {
            CheckEnd::WrongAnswer
        } else if matches!(target_end.end, ActionEnd::Lost(_)) {
            CheckEnd::no_effect(&target_end)
        } else {
            continue;
        };
        // If both calls succeeded, the second is the one that should not have.
        let wrong = if first == 0 { second } else { first };
        fitness.add_check_for(
            target,
            Check {
                answer: Some(wrong),
                ..Check::new(function, TWO_CALLERS, end)
            },
        );
        return Ok(());
    }
    fitness.add_check_for(target, Check::new(function, TWO_CALLERS, CheckEnd::Works));
    check_started_once(fitness, target);
    Ok(())
}

/// Returns true if one call succeeded and the other was told that the CPU is on or starting.
fn is_permitted(first: Answer, second: Answer) -> bool {
    let is_late = |answer: Answer| answer == ALREADY_ON || answer == ON_PENDING;
    first == 0 && is_late(second) || second == 0 && is_late(first)
}

/// Returns a round in which both callers call CPU_ON for the target.
fn round(fitness: &Fitness<'_>, caller: CpuIndex, target: CpuIndex, step: u64) -> Round {
    let lead = fitness.lead();
    let participants = Participants::Pair(lead, caller);
    let call = |us: u64| Part {
        action: Action::Call(LoneCall::CpuOn(target)),
        call: fitness.facts().ticks(us),
    };
    let callers = [
        (lead, call(TRIES / 2 * STEP_US)),
        (caller, call(step * STEP_US)),
    ];
    Round {
        roles: Roles::new(callers),
        ..fitness.plain_round(participants, Action::Version)
    }
}

/// Checks that the target, which has turned off again, has stayed off.
fn check_started_once(fitness: &mut Fitness<'_>, target: CpuIndex) {
    let mpidr = fitness.mpidr(target).number();
    let answer = fitness.call_firmware(Function::AffinityInfo, [mpidr, 0, 0]);
    let call = CheckedCall::new(Function::AffinityInfo, IS_OFF).for_cpu(target);
    fitness.add_answer(call, answer, &[OFF]);
}
