//! PSCI_FEATURES in comparison with what the functions do.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use crate::model::{Check, CheckEnd, Function, Rule};
use smccc::psci::error::NOT_SUPPORTED;

const FEATURES_AGREE: &Rule = &Rule {
    key: "features-agree",
    title: "agrees with calls",
    permitted: Some("what PSCI_FEATURES says"),
    statement: "PSCI_FEATURES returns NOT_SUPPORTED for a function if and only if the function is \
                not implemented, and a call to such a function returns NOT_SUPPORTED.",
    section: Some("5.15"),
    ..Rule::NONE
};

/// Calls that change nothing, and what PSCI_FEATURES says about them.
pub(super) const GROUP: Group = Group {
    rules: &[FEATURES_AGREE],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    if fitness.facts().psci_version < 0x1_0000 {
        return Ok(());
    }
    fitness.announce(Function::PsciFeatures, None)?;
    let lead = fitness.mpidr(fitness.lead()).number();
    let entry = fitness.machine.entry_point();
    let state = fitness.setting.states.accepted.first();
    let power_state = state.map_or(0, |state| state.power_state.into());
    let mut disagree = 0;
    for (function, arguments) in [
        (Function::PsciVersion, [0; 3]),
        (Function::AffinityInfo, [lead, 0, 0]),
        (Function::MigrateInfoType, [0; 3]),
        (Function::MemProtectCheckRange, [entry, 1, 0]),
        (Function::NodeHwState, [lead, 0, 0]),
        (Function::SetSuspendMode, [0; 3]),
        (Function::StatCount, [lead, power_state, 0]),
        (Function::StatResidency, [lead, power_state, 0]),
    ] {
        let is_listed = fitness.promised(function) == Some(true);
        let answer = fitness.call_firmware(function, arguments);
        // MIGRATE_INFO_TYPE may return NOT_SUPPORTED to say that there is no Trusted OS.
        let is_kind = function == Function::MigrateInfoType && is_listed;
        if is_listed == (answer != NOT_SUPPORTED) || is_kind {
            continue;
        }
        disagree += 1;
        fitness.add_check(Check {
            answer: Some(answer),
            ..Check::new(function, FEATURES_AGREE, CheckEnd::WrongAnswer)
        });
    }
    if disagree == 0 {
        let end = CheckEnd::Works;
        fitness.add_check(Check::new(Function::PsciFeatures, FEATURES_AGREE, end));
    }
    Ok(())
}
