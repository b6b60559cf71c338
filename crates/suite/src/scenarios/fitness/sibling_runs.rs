//! In OS-initiated mode, a level with a CPU that is running cannot be powered down.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use super::requests::{Permitted, states_above_core};
use crate::measure::{Participants, Roles};
use crate::model::{Function, Rule};

pub(super) const SIBLING_RUNS: &Rule = &Rule {
    key: "sibling-runs",
    title: "while a sibling runs",
    permitted: Some("DENIED"),
    statement: "In OS-initiated mode, CPU_SUSPEND returns DENIED if it requests a level at which \
                another CPU is running.",
    section: Some("4.2.3.2"),
    is_of_state: true,
};

/// The request of a CPU in the lead's cluster, while the lead is running.
pub(super) const GROUP: Group = Group {
    rules: &[SIBLING_RUNS],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    let permitted = Permitted::WHILE_RUNNING;
    fitness.in_os_initiated_mode(|fitness| {
        for state in states_above_core(fitness.setting.states) {
            let Some(cpu) = fitness.sibling_of_lead() else {
                return fitness.lacks_cpus(Function::CpuSuspend, SIBLING_RUNS);
            };
            let participants = Participants::Only(cpu);
            let round = fitness.request_round(participants, state, Roles::default());
            fitness.check_request(SIBLING_RUNS, (cpu, state), &round, permitted)?;
        }
        Ok(())
    })
}
