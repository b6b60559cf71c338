//! In OS-initiated mode, a CPU whose request was denied is running, so its level stays on.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use super::requests::{Permitted, states_above_core};
use super::sibling_runs::SIBLING_RUNS;
use crate::bench::states::UsableState;
use crate::model::{Function, Rule};
use hardware::board::CpuIndex;

const AFTER_DENIAL: &Rule = &Rule {
    key: "after-denial",
    title: "after sibling was denied",
    permitted: Some("DENIED"),
    statement: "A CPU whose CPU_SUSPEND is denied keeps running. In OS-initiated mode, a later \
                request of another CPU for their common level is therefore DENIED.",
    section: Some("4.2.3.2"),
    is_of_state: true,
};

/// The requests of two CPUs in one cluster, one after the other.
pub(super) const GROUP: Group = Group {
    rules: &[AFTER_DENIAL],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
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
