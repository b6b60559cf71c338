//! A CPU whose request was denied is running, so its level stays on.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use super::requests::{Permitted, states_above_core};
use super::sibling_runs::SIBLING_RUNS;
use crate::bench::reached::reached_in;
use crate::bench::states::UsableState;
use crate::measure::Round;
use crate::model::{Check, CheckEnd, Function, Rule};
use hardware::board::CpuIndex;

const AFTER_DENIAL: &Rule = &Rule {
    key: "after-denial",
    title: "after sibling was denied",
    permitted: Some("DENIED"),
    statement: "A CPU whose CPU_SUSPEND is denied keeps running. In OS-initiated mode, a later \
                request of another CPU for their common level is therefore DENIED; in \
                platform-coordinated mode, it does not reach that level.",
    section: Some("4.2.3"),
    is_of_state: true,
};

/// The requests of two CPUs in one cluster, one after the other.
pub(super) const GROUP: Group = Group {
    rules: &[AFTER_DENIAL],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    check_coordinated(fitness)?;
    let permitted = Permitted::WHILE_RUNNING;
    fitness.in_os_initiated_mode(|fitness| {
        let Some(state) = states_above_core(fitness.setting.states).next() else {
            return Ok(());
        };
        let Some(siblings) = fitness.siblings_elsewhere() else {
            return fitness.lacks_cpus(Function::CpuSuspend, AFTER_DENIAL);
        };
        check_pair(fitness, siblings, (state, state), permitted)?;
        match fitness.setting.states.core {
            Some(core) => check_pair(fitness, siblings, (core, state), permitted),
            None => Ok(()),
        }
    })
}

/// Makes the first CPU request one state, and then the other CPU the other state.
fn check_pair(
    fitness: &mut Fitness<'_>,
    [first, cpu]: [CpuIndex; 2],
    (first_state, state): (UsableState, UsableState),
    permitted: Permitted<'_>,
) -> fmt::Result {
    let round = fitness.pair_round((first, first_state), (cpu, state));
    fitness.announce(Function::CpuSuspend, Some(state.power_state))?;
    if !fitness.run_requests(&round) {
        return Ok(());
    }
    let first_code = fitness.outcomes[first.index()].code;
    if first_code.is_some_and(|code| code < 0) {
        fitness.add_request(AFTER_DENIAL, (cpu, state), permitted);
    } else if first_state == state {
        // The request succeeded although the other CPU was running.
        fitness.add_request(SIBLING_RUNS, (first, state), permitted);
    }
    Ok(())
}

/// Makes two CPUs request a state of their cluster in platform-coordinated mode, one after the other.
/// If the first request is denied, which is up to the platform, the statistics show whether the
/// second powered down the cluster.
fn check_coordinated(fitness: &mut Fitness<'_>) -> fmt::Result {
    let facts = fitness.facts();
    let (clock, can_tell) = (facts.clock(), facts.stat && facts.gic.is_some());
    // A lost CPU, or one that is never off, may be on.
    if !can_tell || facts.no_cpu_off.is_some() || !fitness.lost().is_empty() {
        return Ok(());
    }
    let Some(state) = states_above_core(fitness.setting.states).next() else {
        return Ok(());
    };
    let Some([first, cpu]) = fitness.siblings_elsewhere() else {
        return Ok(());
    };
    let round = Round {
        ladder: state.ladder,
        ..fitness.pair_round((first, state), (cpu, state))
    };
    fitness.announce(Function::CpuSuspend, Some(state.power_state))?;
    if !fitness.run_requests(&round) {
        return Ok(());
    }
    let [denied, request] = [first, cpu].map(|cpu| fitness.outcomes[cpu.index()]);
    if denied.code.is_some_and(|code| code < 0)
        && let Some(reached) = reached_in(&request, &state.ladder, Some(0), clock)
    {
        let end = match reached.mismatch() {
            Some(_) => CheckEnd::WrongStatistics,
            None => CheckEnd::Works,
        };
        let check = Check {
            value: Some(state.power_state),
            ..Check::new(Function::StatCount, AFTER_DENIAL, end)
        };
        fitness.add_check_for(cpu, check);
    }
    Ok(())
}
