//! AFFINITY_INFO for a cluster whose CPUs are all off.

use core::fmt;

use super::checks::{CheckedCall, Fitness, OFF};
use super::group::Group;
use crate::model::{Function, Rule};
use smccc::psci::error::INVALID_PARAMETERS;

const LEVEL_OFF: &Rule = &Rule {
    key: "level-off",
    title: "OFF at level",
    permitted: Some("OFF or INVALID_PARAMETERS"),
    statement: "AFFINITY_INFO returns OFF for a level at which all CPUs are off. Since PSCI 1.0, \
                firmware may reject levels above 0 with INVALID_PARAMETERS.",
    section: Some("5.7"),
    ..Rule::NONE
};

/// AFFINITY_INFO for a cluster that is off.
pub(super) const GROUP: Group = Group {
    rules: &[LEVEL_OFF],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    let function = Function::AffinityInfo;
    // A lost CPU may be on.
    if fitness.facts().no_cpu_off.is_some() || !fitness.lost().is_empty() {
        return Ok(());
    }
    let Some(cpu) = fitness.cpu_elsewhere() else {
        return fitness.lacks_cpus(function, LEVEL_OFF);
    };
    fitness.announce(function, None)?;
    let answer = fitness.call_firmware(function, [fitness.mpidr(cpu).number(), 1, 0]);
    let call = CheckedCall::new(function, LEVEL_OFF).with_value(1);
    fitness.add_answer(call, answer, &[OFF, INVALID_PARAMETERS]);
    Ok(())
}
