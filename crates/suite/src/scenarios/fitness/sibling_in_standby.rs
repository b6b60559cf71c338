//! In OS-initiated mode, a level with a CPU in standby cannot be powered down.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use super::requests::{Permitted, states_above_core};
use crate::model::{Function, Rule};
use smccc::psci::error::{DENIED, INVALID_PARAMETERS};

const SIBLING_IN_STANDBY: &Rule = &Rule {
    key: "sibling-in-standby",
    title: "while sibling in standby",
    permitted: Some("INVALID_PARAMETERS"),
    statement: "In OS-initiated mode, CPU_SUSPEND returns INVALID_PARAMETERS if it requests a \
                level at which another CPU is in a low-power state that is incompatible with the \
                request. Firmware may also deny it.",
    section: Some("4.2.3.2"),
    is_of_state: true,
};

/// The request of the last CPU that runs in a cluster, while another CPU is in standby.
pub(super) const GROUP: Group = Group {
    rules: &[SIBLING_IN_STANDBY],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    let states = fitness.setting.states;
    let mut standbys = states.accepted.iter().copied();
    let standby = standbys.find(|state| !state.powerdown && state.level.unwrap_or(0) == 0);
    let Some(standby) = standby else {
        return Ok(());
    };
    let permitted = Permitted {
        required: &[INVALID_PARAMETERS],
        tolerated: &[DENIED],
    };
    fitness.in_os_initiated_mode(|fitness| {
        let Some(state) = states_above_core(fitness.setting.states).next() else {
            return Ok(());
        };
        let Some([sleeper, cpu]) = fitness.siblings_elsewhere() else {
            return fitness.lacks_cpus(Function::CpuSuspend, SIBLING_IN_STANDBY);
        };
        let round = fitness.pair_round((sleeper, standby), (cpu, state));
        fitness.check_request(SIBLING_IN_STANDBY, (cpu, state), &round, permitted)
    })
}
