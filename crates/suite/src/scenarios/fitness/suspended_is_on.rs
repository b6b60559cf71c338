//! AFFINITY_INFO for a CPU that is suspended.

use core::fmt;

use super::checks::{CheckedCall, Fitness};
use super::group::Group;
use crate::bench::states::UsableState;
use crate::measure::LoneCall;
use crate::model::{Function, Rule};
use hardware::board::CpuIndex;

const SUSPENDED_IS_ON: &Rule = &Rule {
    key: "suspended-is-on",
    title: "ON while suspended in",
    permitted: Some("ON"),
    statement: "AFFINITY_INFO returns ON for a CPU that is suspended.",
    section: Some("5.7.1"),
    is_of_state: true,
};

/// AFFINITY_INFO calls on the lead while another CPU sleeps.
pub(super) const GROUP: Group = Group {
    rules: &[SUSPENDED_IS_ON],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    if fitness.facts().gic.is_none() {
        return Ok(());
    }
    let states = fitness.setting.states;
    for state in states.accepted.iter().filter(|state| !state.timer_stops) {
        let Some(cpu) = fitness.last_other() else {
            return fitness.lacks_cpus(Function::AffinityInfo, SUSPENDED_IS_ON);
        };
        fitness.announce(Function::AffinityInfo, Some(state.power_state))?;
        check_state(fitness, cpu, *state);
    }
    Ok(())
}

fn check_state(fitness: &mut Fitness<'_>, cpu: CpuIndex, state: UsableState) {
    let call = LoneCall::AffinityInfo(cpu);
    // Other checks find out why a CPU does not suspend.
    if let Some((answer, sleeper)) = fitness.call_beside_suspend(call, (cpu, state))
        && sleeper.code.is_none_or(|code| code >= 0)
    {
        let call = CheckedCall::new(Function::AffinityInfo, SUSPENDED_IS_ON)
            .for_cpu(cpu)
            .with_value(state.power_state);
        fitness.add_answer(call, answer, &[0]);
    }
}
