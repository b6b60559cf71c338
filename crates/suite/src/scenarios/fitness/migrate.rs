//! MIGRATE, if MIGRATE_INFO_TYPE says that there is nothing to migrate.

use core::fmt;

use super::checks::{CheckedCall, Fitness};
use super::group::Group;
use super::listings::check_listing;
use crate::model::{Function, Rule};
use smccc::psci::error::{DENIED, NOT_SUPPORTED};

/// MIGRATE_INFO_TYPE's value for a Trusted OS that only runs on one CPU and cannot migrate.
const CANNOT_MIGRATE: i32 = 1;
/// MIGRATE_INFO_TYPE's value if there is no Trusted OS, or it runs on all CPUs.
const NOT_REQUIRED: i32 = 2;

const NOTHING_TO_MIGRATE: &Rule = &Rule {
    key: "nothing-to-migrate",
    title: "nothing to migrate",
    permitted: Some("NOT_SUPPORTED or DENIED"),
    statement: "If MIGRATE_INFO_TYPE says that the Trusted OS is not present or cannot migrate, \
                MIGRATE returns NOT_SUPPORTED or DENIED.",
    section: Some("5.8"),
    ..Rule::NONE
};

/// MIGRATE, unless it would have an effect.
pub(super) const GROUP: Group = Group {
    rules: &[NOTHING_TO_MIGRATE],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    let kind = fitness.call_firmware(Function::MigrateInfoType, [0; 3]);
    if !matches!(kind, CANNOT_MIGRATE | NOT_REQUIRED | NOT_SUPPORTED) {
        check_listing(fitness, Function::Migrate);
        return Ok(());
    }
    fitness.announce(Function::Migrate, None)?;
    let target = fitness.mpidr(fitness.last_other().unwrap_or(fitness.lead()));
    let answer = fitness.call_firmware(Function::Migrate, [target.number(), 0, 0]);
    let call = CheckedCall::new(Function::Migrate, NOTHING_TO_MIGRATE);
    fitness.add_answer(call, answer, &[NOT_SUPPORTED, DENIED]);
    Ok(())
}
