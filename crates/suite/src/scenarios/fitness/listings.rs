//! Checks the firmware's list of functions, and makes calls on the lead that have no side effects.

use core::fmt;

use crate::model::{Check, CheckEnd, Function, Rule};
use hardware::spec::smccc::VERSION_1_1;
use smccc::arch;
use smccc::psci::{PSCI_FEATURES, SuspendMode, error};

use super::checks::{Answer, CheckedCall, Fitness, end_of};
use super::group::Group;

/// A function ID in PSCI's range that no version of PSCI uses.
const RESERVED: u64 = 0x8400_001f;

/// The highest affinity level for which AFFINITY_INFO is called.
const LEVELS: u32 = 3;

pub(super) const ANSWER: &Rule = &Rule {
    key: "answer",
    title: "permitted value",
    permitted: Some("a number"),
    statement: "The call returns one of the values that its section lists.",
    ..Rule::NONE
};

const UNKNOWN: &Rule = &Rule {
    key: "unknown",
    title: "reserved function",
    permitted: Some("NOT_SUPPORTED"),
    statement: "PSCI_FEATURES returns NOT_SUPPORTED for a function that does not exist.",
    ..Rule::NONE
};

pub(super) const IS_ON: &Rule = &Rule {
    key: "is-on",
    title: "ON",
    permitted: Some("ON"),
    statement: "AFFINITY_INFO returns ON for a CPU that is on.",
    ..Rule::NONE
};

const LEVEL: &Rule = &Rule {
    key: "level",
    title: "ON at level",
    permitted: Some("ON or INVALID_PARAMETERS"),
    statement: "AFFINITY_INFO returns ON for a level with a CPU that is on. Since PSCI 1.0, firmware may reject levels above 0 with INVALID_PARAMETERS.",
    ..Rule::NONE
};

const OS_INITIATED: &Rule = &Rule {
    key: "os-initiated",
    title: "OS-initiated mode",
    permitted: Some("SUCCESS"),
    statement: "SET_SUSPEND_MODE accepts OS-initiated mode if the firmware reports that it supports it.",
    ..Rule::NONE
};

pub(super) const PLATFORM: &Rule = &Rule {
    key: "platform",
    title: "platform mode",
    permitted: Some("SUCCESS"),
    statement: "SET_SUSPEND_MODE accepts platform-coordinated mode if all other CPUs are off.",
    ..Rule::NONE
};

/// The calls on the lead that have no side effects.
pub(super) const LISTINGS: Group = Group {
    rules: &[
        Rule::LISTED,
        ANSWER,
        UNKNOWN,
        IS_ON,
        LEVEL,
        OS_INITIATED,
        PLATFORM,
    ],
    check: check_listings,
    ..Group::NONE
};

fn check_listings(fitness: &mut Fitness<'_>) -> fmt::Result {
    fitness.announce(Function::PsciFeatures, None)?;
    for function in Function::ALL {
        // Another check decides whether MIGRATE is called.
        if function == Function::Migrate {
            continue;
        }
        check_listing(fitness, function);
        if is_called(fitness, function) {
            fitness.announce(function, None)?;
            check_answer(fitness, function);
        }
    }
    check_modes(fitness)
}

impl Fitness<'_> {
    /// Returns true if the firmware has PSCI_FEATURES.
    fn has_list(&self) -> bool {
        self.facts().psci_version >= 0x1_0000
    }

    /// Returns true if the firmware has SMCCC_ARCH_FEATURES.
    fn has_arch_list(&self) -> bool {
        let version = self.facts().smccc.map(|version| version as i32);
        let least = i32::from(VERSION_1_1.major) << 16 | i32::from(VERSION_1_1.minor);
        version.is_some_and(|version| version >= least)
    }

    /// Returns what PSCI_FEATURES or SMCCC_ARCH_FEATURES returns for the function. Returns None if
    /// the firmware is too old to provide the list, or if neither list covers the function.
    pub(super) fn listing(&mut self, function: Function) -> Option<Answer> {
        let by = match function {
            // Neither list covers this function.
            Function::ErrataVersion => return None,
            Function::SmcccVersion if self.has_list() => PSCI_FEATURES,
            _ if function.is_arch_call() && self.has_arch_list() => arch::SMCCC_ARCH_FEATURES,
            _ if !function.is_arch_call() && self.has_list() => PSCI_FEATURES,
            _ => return None,
        };
        let id = u64::from(function.id());
        Some(self.machine.call_firmware(by, [id, 0, 0]) as Answer)
    }
}

/// Adds a check for a function that is listed but never called, or that is missing from the list.
pub(super) fn check_listing(fitness: &mut Fitness<'_>, function: Function) {
    let listing = fitness.listing(function);
    let is_listed = listing.is_some_and(|answer| answer >= 0);
    let is_missing = listing.is_some() && !is_listed;
    let end = if is_missing && function.is_mandatory(fitness.facts().psci_version) {
        CheckEnd::Missing
    } else if is_missing || is_only_listed(function) {
        CheckEnd::NotCalled
    } else {
        return;
    };
    fitness.checks.push(Check {
        promised: listing.map(|answer| answer >= 0),
        answer: listing,
        ..Check::new(function, Rule::LISTED, end)
    });
}

/// Returns true for functions that are never called, because they end the run, change memory
/// protection, move a Trusted OS, or work like CPU_SUSPEND with a state that the board does not
/// declare. Workarounds are not called either: the firmware's list already shows whether the CPU
/// needs them.
const fn is_only_listed(function: Function) -> bool {
    match function {
        Function::Migrate
        | Function::MigrateInfoUpCpu
        | Function::SystemOff
        | Function::SystemOff2
        | Function::SystemReset
        | Function::SystemReset2
        | Function::MemProtect
        | Function::MemProtectCheckRange
        | Function::CpuFreeze
        | Function::CpuDefaultSuspend
        | Function::SystemSuspend
        | Function::FeatureAvailability
        | Function::Workaround1
        | Function::Workaround2
        | Function::Workaround3
        | Function::Workaround4 => true,
        Function::PsciVersion
        | Function::CpuSuspend
        | Function::CpuOff
        | Function::CpuOn
        | Function::AffinityInfo
        | Function::MigrateInfoType
        | Function::PsciFeatures
        | Function::NodeHwState
        | Function::SetSuspendMode
        | Function::StatResidency
        | Function::StatCount
        | Function::SmcccVersion
        | Function::SocId
        | Function::ErrataVersion => false,
    }
}

/// Returns true if the function only returns a value and may be called on this firmware.
fn is_called(fitness: &mut Fitness<'_>, function: Function) -> bool {
    match function {
        Function::PsciVersion | Function::AffinityInfo | Function::MigrateInfoType => {
            fitness.promised(function) != Some(false)
        }
        Function::PsciFeatures => fitness.has_list(),
        Function::SmcccVersion | Function::SocId | Function::NodeHwState => {
            fitness.promised(function) == Some(true)
        }
        // Before SMCCC 1.1, a call to an unknown function is not guaranteed to return.
        Function::ErrataVersion => fitness.has_arch_list(),
        _ => false,
    }
}

/// Calls a function that only returns a value.
fn check_answer(fitness: &mut Fitness<'_>, function: Function) {
    let lead = fitness.mpidr(fitness.lead()).number();
    let (rule, arguments) = match function {
        Function::AffinityInfo => return check_affinity(fitness),
        Function::PsciFeatures => (UNKNOWN, [RESERVED, 0, 0]),
        Function::NodeHwState => (ANSWER, [lead, 0, 0]),
        _ => (ANSWER, [0; 3]),
    };
    let answer = fitness.call_firmware(function, arguments);
    let is_permitted = match function {
        Function::PsciVersion => answer.cast_unsigned() == fitness.facts().psci_version,
        Function::PsciFeatures => answer == error::NOT_SUPPORTED,
        Function::MigrateInfoType => matches!(answer, 0..=2 | error::NOT_SUPPORTED),
        // The lead is on, so its state must be HW_ON.
        Function::NodeHwState => answer == 0,
        Function::ErrataVersion => answer >= 0 || answer == error::NOT_SUPPORTED,
        _ => answer >= 0,
    };
    fitness.add_check(Check {
        answer: Some(answer),
        ..Check::new(function, rule, end_of(is_permitted))
    });
}

/// Calls AFFINITY_INFO for the lead at each affinity level. Since PSCI 1.0, firmware need not
/// support levels above 0.
fn check_affinity(fitness: &mut Fitness<'_>) {
    let function = Function::AffinityInfo;
    let lead = fitness.lead();
    let mpidr = fitness.mpidr(lead).number();
    let at_core = fitness.call_firmware(function, [mpidr, 0, 0]);
    let call = CheckedCall::new(function, IS_ON).for_cpu(lead);
    fitness.add_answer(call, at_core, &[0]);
    for level in 1..=LEVELS {
        let answer = fitness.call_firmware(function, [mpidr, level.into(), 0]);
        let permitted = [0, error::INVALID_PARAMETERS];
        let call = CheckedCall::new(function, LEVEL)
            .for_cpu(lead)
            .with_value(level);
        fitness.add_answer(call, answer, &permitted);
    }
}

/// Sets each of the two suspend modes while all CPUs except the lead are off.
fn check_modes(fitness: &mut Fitness<'_>) -> fmt::Result {
    if !fitness.facts().os_initiated {
        return Ok(());
    }
    fitness.announce(Function::SetSuspendMode, None)?;
    for (mode, rule) in [
        (SuspendMode::OsInitiated, OS_INITIATED),
        (SuspendMode::PlatformCoordinated, PLATFORM),
    ] {
        let answer = fitness.set_suspend_mode(mode);
        let call = CheckedCall::new(Function::SetSuspendMode, rule);
        fitness.add_answer(call, answer, &[0]);
    }
    Ok(())
}
