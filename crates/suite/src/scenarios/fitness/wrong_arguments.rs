//! Calls with wrong arguments. Firmware that does not validate its arguments may lose a CPU or
//! panic, so these checks are made last, and only if requested.

use core::fmt;

use crate::model::{Check, CheckEnd, Function, Probe};
use hardware::board::CpuIndex;
use smccc::psci::error;

use super::checks::{CheckedCall, Fitness, end_of};

/// An address that is far outside any board's memory.
const NO_MEMORY: u64 = 0x000f_ffff_ffff_f000;
/// A suspend mode that PSCI does not define.
const NO_MODE: u64 = 7;

pub(super) fn check_wrong_arguments(fitness: &mut Fitness<'_>) -> fmt::Result {
    let entry = fitness.machine.entry_point();
    let nobody = unknown_mpidr(fitness);
    let invalid = [error::INVALID_PARAMETERS];
    for (function, arguments) in [
        (Function::AffinityInfo, [nobody, 0, 0]),
        (Function::CpuOn, [nobody, entry, 0]),
    ] {
        fitness.announce(function, None)?;
        let answer = fitness.call_firmware(function, arguments);
        let call = CheckedCall::new(function, Probe::WrongMpidr);
        fitness.add_answer(call, answer, &invalid);
    }
    if fitness.promised(Function::SetSuspendMode) == Some(true) {
        fitness.announce(Function::SetSuspendMode, None)?;
        let answer = fitness.call_firmware(Function::SetSuspendMode, [NO_MODE, 0, 0]);
        let call = CheckedCall::new(Function::SetSuspendMode, Probe::WrongMode);
        fitness.add_answer(call, answer, &invalid);
        if answer == 0 {
            // TF-A 2.14 stores any mode, and the stored mode affects later suspends.
            fitness.call_firmware(Function::SetSuspendMode, [0; 3]);
        }
    }
    match fitness.last_other() {
        Some(cpu) => check_address(fitness, cpu),
        None => Ok(()),
    }
}

/// Calls CPU_ON with an entry point outside memory. Firmware may return SUCCESS if it cannot tell
/// that the address is invalid; the CPU is then lost.
fn check_address(fitness: &mut Fitness<'_>, cpu: CpuIndex) -> fmt::Result {
    fitness.announce(Function::CpuOn, None)?;
    let target = fitness.mpidr(cpu).number();
    let answer = fitness.call_firmware(Function::CpuOn, [target, NO_MEMORY, 0]);
    let expected = if fitness.facts().psci_version >= 0x1_0000 {
        error::INVALID_ADDRESS
    } else {
        error::INVALID_PARAMETERS
    };
    let end = match answer {
        0 => CheckEnd::Tolerated,
        _ => end_of(answer == expected),
    };
    let check = Check {
        answer: Some(answer),
        ..Check::new(Function::CpuOn, Probe::WrongAddress, end)
    };
    fitness.add_check_for(cpu, check);
    Ok(())
}

/// Returns an MPIDR that no CPU on the board has.
fn unknown_mpidr(fitness: &Fitness<'_>) -> u64 {
    let highest = CpuIndex::all(fitness.setting.cpus.len()).map(|cpu| fitness.mpidr(cpu).number());
    let aff3 = highest.max().unwrap_or(0) >> 32;
    (aff3 ^ 0xff) << 32 | 0xff_ffff
}
