//! What the lead and one other CPU share: a slot each.
//!
//! The lead writes an [`Order`] and then counts `issued` up; the CPU does it,
//! writes its [`Outcome`] and then sets `done` to that number. Between the
//! two, order and outcome belong to the CPU; otherwise to the lead. A CPU
//! that is lost keeps its slot for ever. No line is shared by two slots.

use crate::machine::round::order::{Order, SgiTargets};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::machine::memory::stacks::CpuStack;
use crate::machine::memory::stress::StressBuffer;
use psci_bench::measure::{Action, After, Cause, Identity, Outcome, Tally};
use psci_bench::spec::stat::Ladder;

/// Set in `off_code` when CPU_OFF came back.
const RETURNED: u64 = 1 << 32;

/// Why a CPU will not go on, in `fault`.
const EXCEPTION: u32 = 1;
const CONTEXT: u32 = 2;

/// The state of a slot beside order and outcome.
#[repr(C, align(128))]
pub struct CpuChannel {
    /// Top of the CPU's stack; `boot.S` loads it.
    pub stack: u64,
    /// The CPU's index in the board's order.
    pub index: usize,
    /// The affinity fields of its MPIDR; `boot.S` compares them.
    pub mpidr: u64,
    /// The context ID of its last CPU_SUSPEND; `boot.S` compares it.
    pub context: AtomicU64,
    /// GICv3: address of its redistributor, once it has been found. GICv2:
    /// its bit in target lists.
    pub gic: AtomicU64,
    /// Memory that the CPU may write to, where the plan needs it.
    pub buffer: StressBuffer,
    issued: AtomicU32,
    ready: AtomicU32,
    done: AtomicU32,
    released: AtomicU32,
    dismissed: AtomicU32,
    fault: AtomicU32,
    timer_wakes: AtomicU32,
    start: AtomicU64,
    off_code: AtomicU64,
    rung_at: AtomicU64,
    identified: AtomicU32,
    identity: UnsafeCell<Identity>,
    order: UnsafeCell<Order>,
    outcome: UnsafeCell<Outcome>,
    tally: UnsafeCell<Option<&'static mut Tally>>,
}

// SAFETY: `order`, `outcome` and `tally` change hands by `issued` and `done`, which
// are stored with Release and loaded with Acquire; `identity` is written by
// its CPU alone, and read only where `identified`, stored and loaded like
// those, says that it will not be again; all else is atomic or never written
// after new().
unsafe impl Sync for CpuChannel {}

impl CpuChannel {
    /// A slot for one CPU, nothing asked of it yet.
    pub fn new(
        index: usize,
        mpidr: u64,
        stack: CpuStack,
        buffer: StressBuffer,
        tally: Option<&'static mut Tally>,
    ) -> Self {
        Self {
            stack: stack.top(),
            index,
            mpidr,
            context: AtomicU64::new(0),
            gic: AtomicU64::new(0),
            buffer,
            issued: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            done: AtomicU32::new(0),
            released: AtomicU32::new(0),
            dismissed: AtomicU32::new(0),
            fault: AtomicU32::new(0),
            timer_wakes: AtomicU32::new(0),
            start: AtomicU64::new(0),
            off_code: AtomicU64::new(0),
            rung_at: AtomicU64::new(0),
            identified: AtomicU32::new(0),
            identity: UnsafeCell::new(Identity::default()),
            order: UnsafeCell::new(Order {
                action: Action::None,
                delay: 0,
                dirty: 0,
                alarm: 0,
                due: 0,
                turned_on: 0,
                frame: false,
                wakes: SgiTargets::None,
                quiet: 0,
                after: After::Off,
                holds: false,
                ladder: Ladder::default(),
                window: None,
            }),
            outcome: UnsafeCell::new(Outcome::default()),
            tally: UnsafeCell::new(tally),
        }
    }

    /// The tally, where the plan needs one.
    ///
    /// # Safety
    /// Order and outcome must be the caller's, as described above (the lead's
    /// own are always), and so nothing else may still use what this returned.
    #[expect(clippy::mut_from_ref, reason = "it belongs to whom the slot does")]
    pub unsafe fn tally(&self) -> Option<&mut Tally> {
        // SAFETY: the caller's promise: nobody else reads or writes it.
        unsafe { (*self.tally.get()).as_deref_mut() }
    }

    /// The lead's: hands an order over. The last one must be done.
    pub fn issue(&self, order: Order) {
        let number = self.issued.load(Ordering::Relaxed);
        assert!(
            self.done.load(Ordering::Acquire) == number,
            "an order to a CPU that has not done its last"
        );
        // SAFETY: done = issued: the slot is the lead's, as just checked.
        unsafe { self.order.get().write(order) };
        self.off_code.store(0, Ordering::Relaxed);
        self.start.store(0, Ordering::Relaxed);
        self.issued.store(number.wrapping_add(1), Ordering::Release);
    }

    /// The CPU's: the order, when there is one that is not done.
    pub fn order(&self) -> Option<Order> {
        let number = self.issued.load(Ordering::Acquire);
        if number == self.done.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: done != issued: the slot is this CPU's.
        Some(unsafe { self.order.get().read() })
    }

    /// The CPU's: ready to begin.
    pub fn set_ready(&self) {
        let number = self.issued.load(Ordering::Relaxed);
        self.ready.store(number, Ordering::Release);
    }

    /// The lead's: whether the CPU is ready to begin its order.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    /// The CPU's: hands the outcome over. The order must not be done.
    pub fn finish(&self, outcome: Outcome) {
        let number = self.issued.load(Ordering::Relaxed);
        assert!(
            self.done.load(Ordering::Relaxed) != number,
            "an outcome without an order"
        );
        // SAFETY: done != issued: the slot is this CPU's.
        unsafe { self.outcome.get().write(outcome) };
        self.done.store(number, Ordering::Release);
    }

    /// The lead's: whether the CPU has an order that is not done, and is not
    /// given up.
    pub fn is_busy(&self) -> bool {
        !self.is_done() && !self.is_dismissed()
    }

    /// The lead's: whether the order is done.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    /// The lead's: the outcome, when the order is done.
    pub fn outcome(&self) -> Option<Outcome> {
        if !self.is_done() {
            return None;
        }
        // SAFETY: done = issued: the slot is the lead's.
        Some(unsafe { self.outcome.get().read() })
    }

    /// The lead's: the instant at which the round's CPUs call; not 0.
    pub fn set_start(&self, instant: u64) {
        self.start.store(instant, Ordering::Release);
    }

    /// The CPU's: that instant, once the lead has said it.
    pub fn start(&self) -> Option<u64> {
        match self.start.load(Ordering::Acquire) {
            0 => None,
            instant => Some(instant),
        }
    }

    /// The waking CPU's: the instant just before the first wake-up SGI to the
    /// CPU of this slot.
    pub fn set_rung_at(&self, instant: u64) {
        let first = (Ordering::Release, Ordering::Relaxed);
        // A second SGI does not change when the first one was.
        let _ = self.rung_at.compare_exchange(0, instant, first.0, first.1);
    }

    /// The CPU's: that instant, once it was woken by SGI.
    pub fn rung_at(&self) -> Option<u64> {
        Some(self.rung_at.load(Ordering::Acquire)).filter(|instant| *instant != 0)
    }

    /// The CPU's: no wake-up SGI has been sent yet, before the round begins.
    pub fn clear_rung_at(&self) {
        self.rung_at.store(0, Ordering::Release);
    }

    /// The CPU's: CPU_OFF came back with this code.
    pub fn set_off_code(&self, code: i32) {
        let code = RETURNED | u64::from(code as u32);
        self.off_code.store(code, Ordering::Release);
    }

    /// The lead's: what CPU_OFF came back with, if it did.
    pub fn off_code(&self) -> Option<i32> {
        let code = self.off_code.load(Ordering::Acquire);
        (code & RETURNED != 0).then_some(code as u32 as i32)
    }

    /// The CPU's: its timer's interrupt has been seen to arrive.
    pub fn set_timer_wakes(&self) {
        self.timer_wakes.store(1, Ordering::Relaxed);
    }

    /// The CPU's: whether its timer's interrupt has been seen to arrive.
    pub fn timer_wakes(&self) -> bool {
        self.timer_wakes.load(Ordering::Relaxed) != 0
    }

    /// The CPU's: what it says of itself, the first time.
    pub fn identify(&self, make: impl FnOnce() -> Identity) {
        if self.identified.load(Ordering::Relaxed) == 0 {
            // SAFETY: nobody reads before `identified` is set, which only
            // this CPU does.
            unsafe { self.identity.get().write(make()) };
            self.identified.store(1, Ordering::Release);
        }
    }

    /// What the CPU says of itself, once it has been up.
    pub fn identity(&self) -> Option<Identity> {
        if self.identified.load(Ordering::Acquire) == 0 {
            return None;
        }
        // SAFETY: not written again, as identify() sees to.
        Some(unsafe { self.identity.get().read() })
    }

    /// The lead's: the CPU may go, if it stayed to see the lead back.
    pub fn release(&self) {
        let number = self.issued.load(Ordering::Relaxed);
        self.released.store(number, Ordering::Release);
    }

    /// The CPU's: whether it may go.
    pub fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    /// The lead's: nothing is asked of the CPU any more. Should it still come,
    /// it is to go off, and disturb nobody.
    pub fn dismiss(&self) {
        self.dismissed.store(1, Ordering::Release);
    }

    /// The CPU's: whether nothing is asked of it any more.
    pub fn is_dismissed(&self) -> bool {
        self.dismissed.load(Ordering::Acquire) != 0
    }

    /// The CPU's: it will not go on, because of an exception or of a wrong
    /// context ID.
    pub fn set_fault(&self, cause: Cause) {
        let code = match cause {
            Cause::Context => CONTEXT,
            _ => EXCEPTION,
        };
        self.fault.store(code, Ordering::Release);
    }

    /// Why the CPU will not go on, if so.
    pub fn fault(&self) -> Option<Cause> {
        match self.fault.load(Ordering::Acquire) {
            0 => None,
            CONTEXT => Some(Cause::Context),
            _ => Some(Cause::Exception),
        }
    }
}
