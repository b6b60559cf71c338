//! In OS-initiated mode, a level cannot be powered down while one of its child nodes is on, even if
//! all CPUs of that node are down.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use super::requests::{Permitted, states_above_core};
use crate::model::{Function, Rule};
use smccc::psci::error::{DENIED, INVALID_PARAMETERS};

const CHILD_STAYS_ON: &Rule = &Rule {
    key: "child-stays-on",
    title: "while a cluster is on",
    permitted: Some("DENIED or INVALID_PARAMETERS"),
    statement: "In OS-initiated mode, CPU_SUSPEND is denied if it requests a level one of whose \
                children is on. A cluster stays on if its last CPU only requested the core level.",
    section: Some("4.2.3.2"),
    is_of_state: true,
};

/// The request for the highest level, while the lead's core is down but its cluster is on.
pub(super) const GROUP: Group = Group {
    rules: &[CHILD_STAYS_ON],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    let Some(core) = fitness.setting.states.core else {
        return Ok(());
    };
    let permitted = Permitted {
        required: &[DENIED, INVALID_PARAMETERS],
        tolerated: &[],
    };
    fitness.in_os_initiated_mode(|fitness| {
        let is_above_cluster = |level: u8| level > 1;
        let mut states = states_above_core(fitness.setting.states);
        let highest = states.find(|state| state.level.is_some_and(is_above_cluster));
        let Some(state) = highest.filter(|_| !core.timer_stops) else {
            return Ok(());
        };
        let Some(cpu) = fitness.cpu_elsewhere() else {
            return fitness.lacks_cpus(Function::CpuSuspend, CHILD_STAYS_ON);
        };
        let round = fitness.pair_round((fitness.lead(), core), (cpu, state));
        fitness.check_request(CHILD_STAYS_ON, (cpu, state), &round, permitted)
    })
}
