//! SET_SUSPEND_MODE while CPUs other than the caller are on.

use core::fmt;

use super::checks::{CheckedCall, Fitness};
use super::group::Group;
use crate::measure::LoneCall;
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
        let answer = fitness.set_suspend_mode(SuspendMode::PlatformCoordinated);
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
    let call = LoneCall::SetSuspendMode(1);
    if let Some((answer, _)) = fitness.call_beside_suspend(call, (cpu, state)) {
        let call = CheckedCall::new(function, WHILE_SUSPENDED);
        fitness.add_answer(call, answer, &[DENIED]);
        if answer == 0 {
            // The CPU is off again, so the firmware must accept this call.
            fitness.set_suspend_mode(SuspendMode::PlatformCoordinated);
        }
    }
    Ok(())
}
