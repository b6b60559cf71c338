//! Calls with invalid arguments: fixed values, boundary values, and random values that follow from a
//! seed. Firmware that does not validate its arguments may lose a CPU, panic, or end the run, so these
//! checks are made last, and only if requested. Each call is printed before it is made.

use core::fmt;

use super::checks::{Answer, CheckedCall, Fitness, end_of};
use super::group::Group;
use super::requests::Permitted;
use crate::bench::states::UsableState;
use crate::measure::{Participants, Roles};
use crate::model::{Check, CheckEnd, Function, Rule};
use fastrand::Rng;
use hardware::board::CpuIndex;
use hardware::spec::psci::StateFormat;
use smccc::psci::error::{DENIED, INVALID_ADDRESS, INVALID_PARAMETERS, NOT_SUPPORTED};

/// The number of arguments that are tried for each rule.
const TRIES: usize = 16;
/// The highest affinity level.
const LEVEL_MAX: u64 = 3;
/// An address that is far outside any board's memory.
const NO_MEMORY: u64 = 0x000f_ffff_ffff_f000;
/// Function IDs in PSCI's range that no version defines.
const UNDEFINED: [u64; 3] = [0x8400_0019, 0x8400_001c, 0x8400_001f];

const WRONG_MPIDR: &Rule = &Rule {
    key: "wrong-mpidr",
    title: "unknown MPIDR",
    permitted: Some("INVALID_PARAMETERS"),
    statement: "The call returns INVALID_PARAMETERS for an MPIDR that no CPU has.",
    ..Rule::NONE
};

const WRONG_LEVEL: &Rule = &Rule {
    key: "wrong-level",
    title: "unknown level",
    permitted: Some("INVALID_PARAMETERS"),
    statement: "The call returns INVALID_PARAMETERS for a level that does not exist.",
    ..Rule::NONE
};

const WRONG_MODE: &Rule = &Rule {
    key: "wrong-mode",
    title: "unknown mode",
    permitted: Some("INVALID_PARAMETERS"),
    statement: "SET_SUSPEND_MODE returns INVALID_PARAMETERS for a mode that PSCI does not define.",
    ..Rule::NONE
};

const WRONG_FUNCTION: &Rule = &Rule {
    key: "wrong-function",
    title: "undefined function",
    permitted: Some("NOT_SUPPORTED"),
    statement: "PSCI_FEATURES returns NOT_SUPPORTED for a function that does not exist.",
    ..Rule::NONE
};

const WRONG_STATE: &Rule = &Rule {
    key: "wrong-state",
    title: "reserved bits in",
    permitted: Some("INVALID_PARAMETERS"),
    statement: "CPU_SUSPEND returns INVALID_PARAMETERS for a power_state that is not valid. \
                Reserved bits must be zero.",
    section: Some("5.4.2"),
    is_of_state: true,
};

const NOT_ALONE: &Rule = &Rule {
    key: "not-alone",
    title: "while a CPU is on",
    permitted: Some("DENIED"),
    statement: "SYSTEM_SUSPEND returns DENIED while a CPU other than the caller is on.",
    section: Some("5.19"),
    ..Rule::NONE
};

const WRONG_TYPE: &Rule = &Rule {
    key: "wrong-type",
    title: "unknown type",
    permitted: Some("INVALID_PARAMETERS or NOT_SUPPORTED"),
    statement: "SYSTEM_OFF2 and SYSTEM_RESET2 return INVALID_PARAMETERS for a type that does not \
                exist, or NOT_SUPPORTED if they do not support it.",
    ..Rule::NONE
};

const WRONG_ADDRESS: &Rule = &Rule {
    key: "wrong-address",
    title: "wrong address",
    permitted: Some("INVALID_ADDRESS"),
    statement: "CPU_ON may return INVALID_ADDRESS for an entry point that is not valid. Before \
                PSCI 1.0, it returns INVALID_PARAMETERS.",
    ..Rule::NONE
};

/// Calls that firmware must reject.
pub(super) const WRONG_ARGUMENTS: Group = Group {
    rules: &[
        WRONG_MPIDR,
        WRONG_LEVEL,
        WRONG_MODE,
        WRONG_FUNCTION,
        WRONG_STATE,
        NOT_ALONE,
        WRONG_TYPE,
        WRONG_ADDRESS,
    ],
    check: check_wrong_arguments,
    is_destructive: true,
};

fn check_wrong_arguments(fitness: &mut Fitness<'_>) -> fmt::Result {
    let mut random = Rng::with_seed(fitness.setting.plan.seed.into());
    check_mpidrs(fitness, &mut random)?;
    check_levels(fitness, &mut random)?;
    check_modes(fitness, &mut random)?;
    check_calls(
        fitness,
        Function::PsciFeatures,
        WRONG_FUNCTION,
        &UNDEFINED.map(|id| [id, 0, 0]),
    )?;
    check_states(fitness, &mut random)?;
    check_system_suspend(fitness)?;
    check_types(fitness, &mut random)?;
    check_addresses(fitness, &mut random)
}

/// Makes one call with each of these arguments, until the firmware returns a wrong value.
fn check_calls(
    fitness: &mut Fitness<'_>,
    function: Function,
    rule: &'static Rule,
    all: &[[u64; 3]],
) -> fmt::Result {
    let permitted: &[Answer] = match function {
        Function::PsciFeatures => &[NOT_SUPPORTED],
        Function::SystemOff2 | Function::SystemReset2 => &[INVALID_PARAMETERS, NOT_SUPPORTED],
        _ => &[INVALID_PARAMETERS],
    };
    let mut last = None;
    for arguments in all {
        fitness.announce_call(function, arguments)?;
        let answer = fitness.call_firmware(function, *arguments);
        last = Some(answer);
        if !permitted.contains(&answer) {
            break;
        }
    }
    if let Some(answer) = last {
        fitness.add_answer(CheckedCall::new(function, rule), answer, permitted);
    }
    Ok(())
}

fn check_mpidrs(fitness: &mut Fitness<'_>, random: &mut Rng) -> fmt::Result {
    let entry = fitness.machine.entry_point();
    let highest = CpuIndex::all(fitness.setting.cpus.len()).map(|cpu| fitness.mpidr(cpu).number());
    // A CPU that the board does not list may exist, but not with an Aff3 that no other CPU has.
    let aff3 = (highest.max().unwrap_or(0) >> 32) ^ 0xff;
    let mut unknown = |_| match random.u8(0..3) {
        0 => aff3 << 32 | 0xff_ffff,
        _ => aff3 << 32 | random.u64(0..=0xff_ffff),
    };
    let mpidrs: [u64; TRIES] = core::array::from_fn(&mut unknown);
    for (function, second) in [
        (Function::AffinityInfo, 0),
        (Function::CpuOn, entry),
        (Function::NodeHwState, 0),
    ] {
        if function == Function::NodeHwState && fitness.promised(function) != Some(true) {
            continue;
        }
        let all = mpidrs.map(|mpidr| [mpidr, second, 0]);
        check_calls(fitness, function, WRONG_MPIDR, &all)?;
    }
    Ok(())
}

fn check_levels(fitness: &mut Fitness<'_>, random: &mut Rng) -> fmt::Result {
    let lead = fitness.mpidr(fitness.lead()).number();
    let levels = [
        LEVEL_MAX + 1,
        u32::MAX.into(),
        random.u64(LEVEL_MAX + 1..1 << 32),
    ];
    let all = levels.map(|level| [lead, level, 0]);
    check_calls(fitness, Function::AffinityInfo, WRONG_LEVEL, &all)?;
    if fitness.promised(Function::NodeHwState) == Some(true) {
        check_calls(fitness, Function::NodeHwState, WRONG_LEVEL, &all)?;
    }
    Ok(())
}

fn check_modes(fitness: &mut Fitness<'_>, random: &mut Rng) -> fmt::Result {
    if fitness.promised(Function::SetSuspendMode) != Some(true) {
        return Ok(());
    }
    let modes = [2, 7, u32::MAX.into(), random.u64(2..1 << 32)];
    let all = modes.map(|mode| [mode, 0, 0]);
    check_calls(fitness, Function::SetSuspendMode, WRONG_MODE, &all)?;
    // TF-A 2.14 stores any mode, and the stored mode affects later suspends.
    fitness.call_firmware(Function::SetSuspendMode, [0; 3]);
    Ok(())
}

/// Suspends a CPU to a declared state with a reserved bit set. The lead stays awake to wake it.
fn check_states(fitness: &mut Fitness<'_>, random: &mut Rng) -> fmt::Result {
    let states = fitness.setting.states;
    let (Some(cpu), Some(state), Some(_)) = (
        fitness.last_other(),
        states.accepted.first(),
        fitness.facts().gic,
    ) else {
        return Ok(());
    };
    let reserved: &[u32] = match states.format {
        StateFormat::Original => &[17, 18, 19, 20, 21, 22, 23, 26, 27, 28, 29, 30, 31],
        StateFormat::Extended => &[28, 29, 31],
    };
    let permitted = Permitted {
        required: &[INVALID_PARAMETERS],
        tolerated: &[],
    };
    for _ in 0..TRIES {
        let bit = reserved[random.usize(0..reserved.len())];
        let wrong = UsableState {
            power_state: state.power_state | 1 << bit,
            ..*state
        };
        let participants = Participants::Only(cpu);
        let round = fitness.request_round(participants, wrong, Roles::default());
        fitness.announce(Function::CpuSuspend, Some(wrong.power_state))?;
        let is_wrong = !fitness.run_requests(&round)
            || fitness.outcomes[cpu.index()].code != Some(INVALID_PARAMETERS);
        if is_wrong {
            fitness.add_request(WRONG_STATE, (cpu, wrong), permitted);
            return Ok(());
        }
    }
    fitness.add_check_for(
        cpu,
        Check::new(Function::CpuSuspend, WRONG_STATE, CheckEnd::Works),
    );
    Ok(())
}

/// Calls SYSTEM_SUSPEND while another CPU is on.
fn check_system_suspend(fitness: &mut Fitness<'_>) -> fmt::Result {
    let function = Function::SystemSuspend;
    let (Some(cpu), true) = (fitness.last_other(), fitness.facts().system_suspend) else {
        return Ok(());
    };
    fitness.while_on(cpu, |fitness| {
        let arguments = [fitness.machine.entry_point(), 0, 0];
        fitness.announce_call(function, &arguments)?;
        let answer = fitness.call_firmware(function, arguments);
        fitness.add_answer(CheckedCall::new(function, NOT_ALONE), answer, &[DENIED]);
        Ok(())
    })
}

fn check_types(fitness: &mut Fitness<'_>, random: &mut Rng) -> fmt::Result {
    // SYSTEM_OFF2 defines type 1, and SYSTEM_RESET2 type 0. Types with bit 31 set are the vendor's.
    let kind = random.u64(3..0x8000_0000);
    for (function, wrong) in [
        (
            Function::SystemOff2,
            [[0x8000_0000, 0, 0], [kind, 0, 0], [1, 1, 0]].as_slice(),
        ),
        (Function::SystemReset2, &[[0x7fff_ffff, 0, 0], [kind, 0, 0]]),
    ] {
        if fitness.promised(function) == Some(true) {
            check_calls(fitness, function, WRONG_TYPE, wrong)?;
        }
    }
    Ok(())
}

/// Calls CPU_ON with wrong entry points. Firmware may return SUCCESS if it cannot tell that the
/// address is invalid; the CPU is then lost.
fn check_addresses(fitness: &mut Fitness<'_>, random: &mut Rng) -> fmt::Result {
    let Some(cpu) = fitness.last_other() else {
        return Ok(());
    };
    let function = Function::CpuOn;
    let target = fitness.mpidr(cpu).number();
    let expected = if fitness.facts().psci_version >= 0x1_0000 {
        INVALID_ADDRESS
    } else {
        INVALID_PARAMETERS
    };
    let mut last = expected;
    for address in [NO_MEMORY, u64::MAX - 3, random.u64(1 << 52..u64::MAX) & !3] {
        let arguments = [target, address, 0];
        fitness.announce_call(function, &arguments)?;
        last = fitness.call_firmware(function, arguments);
        if last != expected {
            break;
        }
    }
    let end = match last {
        0 => CheckEnd::Tolerated,
        _ => end_of(last == expected),
    };
    let check = Check {
        answer: Some(last),
        ..Check::new(function, WRONG_ADDRESS, end)
    };
    fitness.add_check_for(cpu, check);
    Ok(())
}
