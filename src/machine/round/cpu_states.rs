//! The state of each CPU as seen by the lead, and the lines that report lost CPUs.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use hardware::board::{Cpu, CpuIndex};
use suite::measure::{Loss, RoundPhase, WaitLimits};
use suite::model::Label;

use crate::machine::console::{self, print_paragraph};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuState {
    /// Off. `seen_at` is the counter value when AFFINITY_INFO first returned OFF, or 0 if the CPU
    /// has never been on.
    Off {
        seen_at: u64,
    },
    On,
    Lost(Loss),
}

/// The states of all CPUs.
pub struct CpuStates {
    cpus: &'static [Cpu],
    states: Vec<Cell<CpuState>>,
    /// For each CPU, true if its loss has been reported.
    named: Vec<Cell<bool>>,
    limits: RefCell<WaitLimits>,
}

impl CpuStates {
    /// The memory used for each CPU, in bytes.
    pub const BYTES_EACH: usize = size_of::<CpuState>() + size_of::<bool>();

    /// Returns the states for these CPUs, which are all off.
    pub fn new(cpus: &'static [Cpu]) -> Self {
        Self {
            cpus,
            states: vec![Cell::new(CpuState::Off { seen_at: 0 }); cpus.len()],
            named: vec![Cell::new(false); cpus.len()],
            limits: RefCell::default(),
        }
    }

    pub fn get(&self, cpu: CpuIndex) -> CpuState {
        self.states[cpu.index()].get()
    }

    pub fn set(&self, cpu: CpuIndex, state: CpuState) {
        self.states[cpu.index()].set(state);
    }

    /// Shortens later waits in a phase in which a CPU was lost.
    pub fn shorten_waits(&self, loss: Loss) {
        self.limits.borrow_mut().note(loss);
    }

    pub fn lost(&self, cpu: CpuIndex) -> Option<Loss> {
        match self.get(cpu) {
            CpuState::Lost(loss) => Some(loss),
            CpuState::Off { .. } | CpuState::On => None,
        }
    }

    /// Returns the longest wait in a phase, in microseconds; it is shorter after a loss in that
    /// phase.
    pub fn longest_us(&self, phase: RoundPhase) -> u64 {
        self.limits.borrow().longest_us(phase)
    }

    /// Reports the lost CPUs that have not been reported yet. Called while the other CPUs are idle.
    pub fn name_losses(&self) {
        for (cpu, is_named) in CpuIndex::all(self.named.len()).zip(&self.named) {
            if let Some(loss) = self.lost(cpu)
                && !is_named.replace(true)
            {
                print_paragraph!("CPU {} was lost: {loss}", Label::for_cpu(self.cpus, cpu));
                console::wait_idle();
            }
        }
    }
}
