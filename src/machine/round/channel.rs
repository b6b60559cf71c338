//! The memory that a CPU shares with the others, and the messages that it and the lead exchange.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use aarch64_cpu::registers::{TPIDR_EL1, TPIDR_EL2, Writeable};
use hardware::board::{CpuIndex, Mpidr};
use spin::Once;
use suite::measure::order::Order;
use suite::measure::{Cause, EntryState, Identity, Outcome, Tally};
use sync::Stop;

use crate::machine::boot::layout::{
    EntryRecord, secondary_entry_address, set_channel_directory, wake_entry_address,
};
use crate::machine::call::call_path::CallPath;
use crate::machine::cpu::{instructions, registers};
use crate::machine::gic::target::GicCpu;
use crate::machine::memory::stacks::CpuStack;
use crate::machine::memory::stress::StressBuffer;
use crate::machine::round::stress_state::StressState;

/// The state shared by the lead and one other CPU.
pub type CpuHandover = sync::Handover<Order, Outcome, Tally>;

/// Returns the cause to report for a CPU that stopped.
pub const fn cause_of(stop: Stop) -> Cause {
    match stop {
        Stop::Exception => Cause::Exception,
        Stop::WrongContext => Cause::Context,
    }
}

/// A CPU's channel. No two channels share a cache line.
#[repr(C, align(128))]
pub struct CpuChannel {
    pub entry: EntryRecord,
    pub index: CpuIndex,
    pub gic: GicCpu,
    /// Memory for the CPU to write to, if the plan requires it.
    pub stress_buffer: StressBuffer,
    /// True once the CPU's timer interrupt has been observed. Only this CPU reads and writes this
    /// flag.
    pub timer_is_proven: AtomicBool,
    pub identity: Once<Identity>,
    pub stress: StressState,
    pub handover: CpuHandover,
}

impl CpuChannel {
    pub fn new(
        index: CpuIndex,
        mpidr: Mpidr,
        stack: CpuStack,
        stress_buffer: StressBuffer,
        tally: Option<&'static mut Tally>,
    ) -> Self {
        Self {
            entry: EntryRecord {
                stack_top: stack.top(),
                mpidr,
                suspend_context: AtomicU64::new(0),
                wake_entry: AtomicU64::new(wake_entry_address(false)),
                state: [const { AtomicU64::new(0) }; 2],
            },
            index,
            gic: GicCpu {
                mpidr,
                redistributor_or_bit: AtomicU64::new(0),
                awaits_sgi: AtomicBool::new(false),
            },
            stress_buffer,
            timer_is_proven: AtomicBool::new(false),
            identity: Once::new(),
            stress: StressState::default(),
            handover: CpuHandover::new(tally),
        }
    }

    pub const fn mpidr(&self) -> Mpidr {
        self.entry.mpidr
    }

    /// Returns the context ID that is passed to CPU_ON for this CPU.
    pub fn context_id(&self, path: CallPath) -> u64 {
        core::ptr::from_ref(self) as u64 | path.context_flag()
    }

    /// Chooses the entry point of the CPU's later suspends.
    pub fn set_wake_entry(&self, notes_entry: bool) {
        let address = wake_entry_address(notes_entry);
        self.entry.wake_entry.store(address, Ordering::Relaxed);
    }

    /// Returns the state in which the firmware last entered the CPU.
    pub fn entry_state(&self) -> EntryState {
        let [pstate, sctlr] = &self.entry.state;
        EntryState {
            pstate: pstate.load(Ordering::Relaxed),
            sctlr: sctlr.load(Ordering::Relaxed),
        }
    }

    /// Returns the arguments of CPU_ON for this CPU.
    pub fn cpu_on_arguments(&self, path: CallPath) -> [u64; 3] {
        let entry = secondary_entry_address();
        [self.mpidr().number(), entry, self.context_id(path)]
    }

    /// Gives an order to a CPU that is off. The order is in memory when this function returns, so
    /// CPU_ON may follow.
    pub fn give_first_order(&self, order: Order) {
        self.handover.give_order(order);
        instructions::complete_accesses();
    }
}

/// Publishes the channels to the entry points, and binds the lead to its own. Called before any
/// other CPU is turned on and before the first suspend.
pub fn publish_channels(channels: &'static [CpuChannel], lead: CpuIndex) {
    let range = channels.as_ptr_range();
    set_channel_directory(range.start as u64, range.end as u64);
    bind(&channels[lead.index()]);
}

/// Binds this CPU to its channel, where `vectors.S` finds a stack for dumps. On later entries, the
/// entry code does this.
fn bind(channel: &'static CpuChannel) {
    let address = core::ptr::from_ref(channel) as u64;
    match registers::exception_level() {
        2 => TPIDR_EL2.set(address),
        _ => TPIDR_EL1.set(address),
    }
}
