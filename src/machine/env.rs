//! The machine as every CPU sees it.

use crate::machine::call::call_path::CallPath;
use crate::machine::call::firmware::Firmware;
use crate::machine::gic::controller::Gic;
use crate::machine::memory::dirty_lines::DirtyLines;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::lead_watch::LeadWatch;
use crate::machine::time::timer::Timer;
use crate::machine::timer_frame::TimerFrameDriver;
use aarch64_cpu::registers::{TPIDR_EL1, TPIDR_EL2, Writeable};
use core::arch::asm;
use core::cell::OnceCell;
use psci_bench::board::NoFrame;
use psci_bench::measure::{Clock, Identity};
use psci_bench::spec::pmf::{Interface, ReadError};

use crate::machine::cpu::registers;
/// What every CPU needs to do its part; set once by the lead.
pub struct Env {
    /// Conduit and counter.
    pub way: CallPath,
    /// The firmware behind the conduit.
    pub firmware: Firmware,
    /// PMF, or why it can not be read.
    pub pmf: Result<Interface, ReadError>,
    /// The interrupt controller.
    pub gic: Gic,
    /// The timer that wakes a CPU.
    pub timer: Timer,
    /// One that ends a wait for that one's interrupts, if there is one.
    pub guard: Option<Timer>,
    /// What wakes the lead where that stops, or why nothing does.
    pub frame: Result<TimerFrameDriver, NoFrame>,
    /// The counter as a clock, as the lead's CNTFRQ says.
    pub clock: Clock,
    /// One for each CPU, in the board's order.
    pub slots: &'static [CpuChannel],
    /// The lead's index.
    pub lead: usize,
    /// What is made dirty before a CPU goes down; one CPU at a time.
    pub dirty: DirtyLines,
    /// Whether the firmware keeps PSCI_STAT.
    pub stat: bool,
    /// By when the lead will be heard of.
    pub watch: LeadWatch,
}

/// The environment: written while there is but one CPU, then only read.
struct Shared(OnceCell<Env>);

// SAFETY: set_env() is called once, by the lead, before the first CPU_ON; what
// it wrote is visible to a CPU that comes up by that call, and the cell is not
// written again.
unsafe impl Sync for Shared where Env: Sync {}

static ENV: Shared = Shared(OnceCell::new());

/// Sets the environment, before the first other CPU is turned on.
pub fn set_env(env: Env) -> &'static Env {
    ENV.0.get_or_init(|| env)
}

/// The environment, once it is set.
pub fn env() -> Option<&'static Env> {
    ENV.0.get()
}

impl Env {
    /// Counter ticks in so many microseconds: [`Clock::ticks`].
    pub fn us(&self, microseconds: u64) -> u64 {
        self.clock.ticks(microseconds)
    }
}

/// Binds this CPU to its slot, by which vectors.S finds a stack to dump on.
/// Every entry after boot does so by itself.
pub fn bind(slot: &'static CpuChannel) {
    let address = core::ptr::from_ref(slot) as u64;
    match registers::exception_level() {
        2 => TPIDR_EL2.set(address),
        _ => TPIDR_EL1.set(address),
    }
}

/// The slot of this CPU, once there are slots.
pub fn own_channel() -> Option<&'static CpuChannel> {
    let own = registers::mpidr();
    env()?.slots.iter().find(|slot| slot.mpidr == own)
}

/// What the CPU of this index says of itself, once it has been up.
pub fn identity_of(index: usize) -> Option<Identity> {
    env()?.slots.get(index)?.identity()
}

/// Whether this CPU is the lead. By MPIDR, since an exception may come before
/// the CPU is bound to its slot; before there is an environment there is only
/// one CPU.
pub fn is_lead() -> bool {
    env().is_none_or(|env| env.slots[env.lead].mpidr == registers::mpidr())
}

/// Stops this CPU for good. Its timer may still be armed, and WFI would not
/// wait while that is pending; YIELD is for what else may be.
pub fn park() -> ! {
    if let Some(env) = env() {
        env.timer.disarm();
    }
    loop {
        // SAFETY: WFI only waits, YIELD is a hint.
        unsafe { asm!("wfi", "yield", options(nomem, nostack)) };
    }
}
