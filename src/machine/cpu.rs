//! This CPU: its registers, and what every CPU knows of the machine.

use core::arch::asm;
use core::cell::OnceCell;
use core::sync::atomic::{AtomicBool, Ordering};

use aarch64_cpu::registers::{
    CLIDR_EL1, CNTFRQ_EL0, CSSELR_EL1, CurrentEL, HCR_EL2, ID_AA64MMFR2_EL1, ID_AA64PFR0_EL1,
    MIDR_EL1, MPIDR_EL1, Readable, TPIDR_EL1, TPIDR_EL2, Writeable,
};
use psci_bench::board::NoFrame;
use psci_bench::measure::Identity;
use psci_bench::spec::caches::Caches;
use psci_bench::spec::pmf::{Interface, ReadError};
use psci_bench::spec::psci::AFFINITY_MASK;
use psci_bench::spec::ticks::Clock;

use super::boot;
use super::dirty::Dirty;
use super::firmware::Firmware;
use super::frame::Frame;
use super::gic::Gic;
use super::slot::Slot;
use super::timed::Way;
use super::timer::Timer;
use super::watch::Watch;

/// What every CPU needs to do its part; set once by the lead.
pub struct Env {
    /// Conduit and counter.
    pub way: Way,
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
    pub frame: Result<Frame, NoFrame>,
    /// The counter as a clock, as the lead's CNTFRQ says.
    pub clock: Clock,
    /// One for each CPU, in the board's order.
    pub slots: &'static [Slot],
    /// The lead's index.
    pub lead: usize,
    /// What is made dirty before a CPU goes down; one CPU at a time.
    pub dirty: Dirty,
    /// Whether the firmware keeps PSCI_STAT.
    pub stat: bool,
    /// By when the lead will be heard of.
    pub watch: Watch,
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
pub fn bind(slot: &'static Slot) {
    let address = core::ptr::from_ref(slot) as u64;
    match exception_level() {
        2 => TPIDR_EL2.set(address),
        _ => TPIDR_EL1.set(address),
    }
}

/// The slot of this CPU, once there are slots.
pub fn own_slot() -> Option<&'static Slot> {
    let own = mpidr();
    env()?.slots.iter().find(|slot| slot.mpidr == own)
}

/// What the CPU of this index says of itself, once it has been up.
pub fn identity_of(index: usize) -> Option<Identity> {
    env()?.slots.get(index)?.identity()
}

/// The current exception level: 1 or 2.
pub fn exception_level() -> u8 {
    CurrentEL.read(CurrentEL::EL) as u8
}

/// Whether HCR_EL2.E2H is 1 although the entry code cleared it: EL2 then has
/// EL1's layout of registers and descriptors.
pub fn e2h_is_fixed() -> bool {
    exception_level() == 2 && HCR_EL2.get() & boot::HCR_EL2_E2H != 0
}

/// The affinity fields of this CPU's MPIDR.
pub fn mpidr() -> u64 {
    MPIDR_EL1.get() & AFFINITY_MASK
}

/// Whether this CPU's MPIDR says that Aff0 counts threads (MT).
pub fn is_multithreaded() -> bool {
    MPIDR_EL1.get() & 1 << 24 != 0
}

/// MIDR_EL1.
pub fn midr() -> u64 {
    MIDR_EL1.get()
}

/// Whether this is a guest of KVM, which makes CCSIDR_EL1 up.
static GUEST_OF_KVM: AtomicBool = AtomicBool::new(false);

/// Makes known that this is a guest of KVM, before any CPU's identity is read.
pub fn set_guest_of_kvm() {
    GUEST_OF_KVM.store(true, Ordering::Relaxed);
}

/// Whether this is a guest of KVM.
pub fn is_guest_of_kvm() -> bool {
    GUEST_OF_KVM.load(Ordering::Relaxed)
}

/// What this CPU says of itself, its clock apart, and of caches nothing to a guest
/// of KVM. Nothing interrupts it: interrupts stay masked.
pub fn identity() -> Identity {
    let wide = ID_AA64MMFR2_EL1.is_set(ID_AA64MMFR2_EL1::CCIDX);
    let levels = match is_guest_of_kvm() {
        true => 0,
        false => CLIDR_EL1.get(),
    };
    let caches = Caches::read(levels, wide, &mut |selector| {
        CSSELR_EL1.set(selector);
        let size: u64;
        // SAFETY: reading CCSIDR_EL1 has no side effect; the ISB lets it be
        // the cache that CSSELR_EL1 selects.
        unsafe { asm!("isb", "mrs {}, ccsidr_el1", out(reg) size, options(nostack)) };
        size
    });
    Identity {
        midr: midr(),
        caches,
        frequency: counter_frequency(),
        clock_mhz: None,
    }
}

/// Bytes of the shortest line of a data cache (CTR_EL0.DminLine).
pub fn data_line() -> u64 {
    let ctr: u64;
    // SAFETY: reading CTR_EL0 has no side effect.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack)) };
    4 << (ctr >> 16 & 0xf)
}

/// Bytes that DC ZVA zeroes; None where it may not be used (DCZID_EL0).
pub fn zero_block() -> Option<u64> {
    let dczid: u64;
    // SAFETY: reading DCZID_EL0 has no side effect.
    unsafe { asm!("mrs {}, dczid_el0", out(reg) dczid, options(nomem, nostack)) };
    let prohibited = dczid & 1 << 4 != 0;
    (!prohibited).then_some(4 << (dczid & 0xf))
}

/// CNTFRQ_EL0 in Hz, as the firmware set it.
pub fn counter_frequency() -> u64 {
    CNTFRQ_EL0.get()
}

/// Whether an interrupt is pending for this CPU, masked or not (ISR_EL1, its
/// bits I and F; an SError is taken).
pub fn interrupt_is_pending() -> bool {
    let pending: u64;
    // SAFETY: reading ISR_EL1 has no side effect; the ISB lets writes to the
    // timer and the GIC's registers take effect first.
    unsafe { asm!("isb", "mrs {}, isr_el1", out(reg) pending, options(nostack)) };
    pending & (1 << 7 | 1 << 6) != 0
}

/// Waits until an interrupt is pending, masked or not.
pub fn wait_for_interrupt() {
    // SAFETY: WFI only waits; the barrier completes what others wait for.
    unsafe { asm!("dsb sy", "wfi", options(nostack)) };
}

/// Whether this CPU is the lead. By MPIDR, since an exception may come before
/// the CPU is bound to its slot; before there is an environment there is only
/// one CPU.
pub fn is_lead() -> bool {
    env().is_none_or(|env| env.slots[env.lead].mpidr == mpidr())
}

/// Whether the GIC's system registers exist (ID_AA64PFR0_EL1.GIC).
pub fn has_gic_registers() -> bool {
    ID_AA64PFR0_EL1.get() >> 24 & 0xf != 0
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

/// Lets SErrors be taken from now on, also one that has been pending since
/// before: the lead's, once it has a console. (`boot.S` does it on the other
/// entries.) Until then nobody would hear of one.
// Once in the image: a test looks at each place where SErrors are let in.
#[inline(never)]
pub fn unmask_serrors() {
    // SAFETY: only PSTATE.A changes. TPIDR has been set by boot.S before any
    // Rust, so that vectors.S finds a stack to dump on.
    unsafe { asm!("msr daifclr, #4", options(nostack)) };
}

/// Completes all memory accesses of this CPU, devices' among them.
pub fn barrier() {
    // SAFETY: barriers only.
    unsafe { asm!("dsb sy", "isb", options(nostack)) };
}
