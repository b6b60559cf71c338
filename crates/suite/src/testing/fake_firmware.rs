//! What the fake machine's firmware returns to the lead between rounds.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;
use smccc::psci::error::{
    ALREADY_ON, DENIED, INVALID_ADDRESS, INVALID_PARAMETERS, NOT_SUPPORTED, ON_PENDING,
};

use super::board::board;
use crate::measure::LoneCall;
use crate::model::{Cpu, Function};

/// The entry point of the fake CPUs.
pub const ENTRY: u64 = 0x4000_0000;

/// A change that a test makes to a return value, by function ID and first argument.
type EditAnswer = Box<dyn FnMut(u32, u64, i32) -> i32>;

/// Firmware without OS-initiated mode or a Trusted OS.
pub struct FakeFirmware {
    /// True for each CPU that is on.
    pub on: Vec<bool>,
    /// The CPU that a CPU has turned on in the current round.
    starting: Option<CpuIndex>,
    pub(super) edit: EditAnswer,
}

impl FakeFirmware {
    /// Returns the firmware of a machine on which only CPU 0 is on.
    pub fn new(cpus: usize) -> Self {
        let mut on = vec![false; cpus];
        on[0] = true;
        Self {
            on,
            starting: None,
            edit: Box::new(|_, _, answer| answer),
        }
    }

    /// Returns X0.
    pub fn call(&mut self, psci_version: u32, function: u32, arguments: [u64; 3]) -> u64 {
        let [first, second, _] = arguments;
        let is = |named_function: Function| function == named_function.id();
        let state = self.state(first);
        let right = if is(Function::PsciVersion) {
            psci_version.cast_signed()
        } else if is(Function::PsciFeatures) {
            let mut functions = Function::ALL.into_iter();
            let known = functions.find(|function| u64::from(function.id()) == first);
            known.map_or(NOT_SUPPORTED, listing)
        } else if is(Function::AffinityInfo) {
            match (state, second) {
                (Some(is_on), 0) => i32::from(!is_on),
                _ => INVALID_PARAMETERS,
            }
        } else if is(Function::CpuOn) {
            match state {
                None => INVALID_PARAMETERS,
                Some(_) if second != ENTRY => INVALID_ADDRESS,
                Some(true) => ALREADY_ON,
                Some(false) => 0,
            }
        } else if is(Function::MigrateInfoType) {
            2
        } else {
            NOT_SUPPORTED
        };
        let answer = (self.edit)(function, first, right);
        u64::from(answer.cast_unsigned())
    }

    /// Returns the low word of X0 after a call in a round in which another CPU is suspended.
    pub fn lone_call(&mut self, call: LoneCall) -> i32 {
        let (function, target, right) = match call {
            LoneCall::CpuOn(target) => {
                let is_first = self.starting.replace(target) != Some(target);
                (
                    Function::CpuOn,
                    target,
                    if is_first { 0 } else { ON_PENDING },
                )
            }
            LoneCall::AffinityInfo(target) => (Function::AffinityInfo, target, 0),
            LoneCall::SetSuspendMode(_) => (Function::SetSuspendMode, CpuIndex::default(), DENIED),
        };
        (self.edit)(function.id(), u64::from(u32::from(target)), right)
    }

    /// Forgets which CPU was turned on in the last round.
    pub fn begin_round(&mut self) {
        self.starting = None;
    }

    /// Returns whether the CPU with this MPIDR is on; None if there is no such CPU.
    fn state(&self, mpidr: u64) -> Option<bool> {
        let cpus = board(self.on.len());
        let has_mpidr = |cpu: &Cpu| cpu.mpidr.is_some_and(|other| other.number() == mpidr);
        let index = cpus.iter().position(has_mpidr)?;
        Some(self.on[index])
    }

    /// Records whether the CPU is on after a round.
    pub fn set(&mut self, cpu: CpuIndex, is_on: bool) {
        self.on[cpu.index()] = is_on;
    }
}

/// Returns what PSCI_FEATURES returns for a function.
fn listing(function: Function) -> i32 {
    match function {
        Function::PsciVersion
        | Function::CpuSuspend
        | Function::CpuOff
        | Function::CpuOn
        | Function::AffinityInfo
        | Function::MigrateInfoType
        | Function::SystemOff
        | Function::SystemReset
        | Function::PsciFeatures => 0,
        _ => NOT_SUPPORTED,
    }
}
