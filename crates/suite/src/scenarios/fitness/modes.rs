//! SET_SUSPEND_MODE while CPUs other than the caller are on.

use core::fmt;

use super::checks::{Answer, CheckedCall, Fitness};
use super::group::Group;
use crate::measure::{Action, LoneCall, Part, Participants, Roles};
use crate::model::{Function, Rule};
use smccc::psci::SuspendMode;
use smccc::psci::error::DENIED;

const WHILE_ON: &Rule = &Rule {
    key: "mode-while-on",
    title: "platform mode, CPU is on",
    permitted: Some("DENIED"),
    statement: "SET_SUSPEND_MODE returns DENIED if it is to leave OS-initiated mode while a CPU \
                other than the caller is on.",
    section: Some("5.20"),
    ..Rule::NONE
};

const WHILE_SUSPENDED: &Rule = &Rule {
    key: "mode-while-suspended",
    title: "OS mode, CPU suspended",
    permitted: Some("DENIED"),
    statement: "SET_SUSPEND_MODE returns DENIED if it is to enter OS-initiated mode while a CPU is \
                suspended by CPU_SUSPEND.",
    section: Some("5.20"),
    ..Rule::NONE
};

/// Changes of the mode that must be rejected.
pub(super) const GROUP: Group = Group {
    rules: &[WHILE_ON, WHILE_SUSPENDED],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    fitness.in_os_initiated_mode(check_while_on)?;
    check_while_suspended(fitness)
}

/// Leaves OS-initiated mode while another CPU is running.
fn check_while_on(fitness: &mut Fitness<'_>) -> fmt::Result {
    let function = Function::SetSuspendMode;
    let Some(cpu) = fitness.last_other() else {
        return fitness.lacks_cpus(function, WHILE_ON);
    };
    fitness.announce(function, None)?;
    fitness.while_on(cpu, |fitness| {
        let left = fitness
            .machine
            .set_suspend_mode(SuspendMode::PlatformCoordinated);
        let answer = left.map_or_else(i64::from, |()| 0) as Answer;
        fitness.add_answer(CheckedCall::new(function, WHILE_ON), answer, &[DENIED]);
        Ok(())
    })
}

/// Enters OS-initiated mode while another CPU is suspended.
fn check_while_suspended(fitness: &mut Fitness<'_>) -> fmt::Result {
    let function = Function::SetSuspendMode;
    let states = fitness.setting.states;
    let state = states.core.filter(|core| !core.timer_stops);
    let (Some(state), Some(cpu), true) =
        (state, fitness.last_other(), fitness.facts().os_initiated)
    else {
        return Ok(());
    };
    fitness.announce(function, None)?;
    let lead = fitness.lead();
    let mode = LoneCall::SetSuspendMode(1);
    let roles = Roles::single(
        lead,
        Part {
            action: Action::Call(mode),
            ..fitness.late_part(state)
        },
    );
    let round = fitness.request_round(Participants::Pair(lead, cpu), state, roles);
    let is_tested = fitness.run_requests(&round);
    let [caller, sleeper] = [lead, cpu].map(|cpu| fitness.outcomes[cpu.index()]);
    if is_tested
        && sleeper.end.has_returned()
        && let Some(answer) = caller.code
    {
        let call = CheckedCall::new(function, WHILE_SUSPENDED);
        fitness.add_answer(call, answer, &[DENIED]);
        if answer == 0 {
            // The CPU is off again, so the firmware must accept this call.
            let _ = fitness
                .machine
                .set_suspend_mode(SuspendMode::PlatformCoordinated);
        }
    }
    Ok(())
}
