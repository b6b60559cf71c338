//! The hand-over between the lead and one other CPU.
//!
//! The lead writes an [`Order`] and then counts `issued` up; the CPU executes it,
//! writes its [`Outcome`] and then sets `done` to that number. Between the two,
//! order, outcome and tally belong to the CPU; otherwise to the lead. A CPU that
//! is lost keeps them for ever.
//!
//! The file also compiles on the host, in `tests/handover.rs` and, with loom's cells, in
//! `verify`.

use psci_bench::measure::order::Order;
use psci_bench::measure::{Cause, Outcome, Tally};

use super::cells::{AtomicU32, AtomicU64, Cell, Ordering};

/// Bit of `cpu_off_return` that is set when CPU_OFF has returned.
const RETURNED: u64 = 1 << 32;

const EXCEPTION: u32 = 1;
const WRONG_CONTEXT: u32 = 2;

/// The state that the lead and one other CPU share. A number is that of an order.
pub struct Handover {
    issued: AtomicU32,
    ready: AtomicU32,
    done: AtomicU32,
    released: AtomicU32,
    dismissed: AtomicU32,
    fault: AtomicU32,
    start: AtomicU64,
    sgi_sent_at: AtomicU64,
    cpu_off_return: AtomicU64,
    order: Cell<Option<Order>>,
    outcome: Cell<Outcome>,
    tally: Cell<Option<&'static mut Tally>>,
}

// SAFETY: `order`, `outcome` and `tally` change hands by `issued` and `done`, which
// are stored with Release and loaded with Acquire; all else is atomic.
unsafe impl Sync for Handover {}

/// The part of the lead.
impl Handover {
    /// Returns a hand-over without an order. `tally` is the CPU's, if the plan needs one.
    pub fn new(tally: Option<&'static mut Tally>) -> Self {
        Self {
            issued: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            done: AtomicU32::new(0),
            released: AtomicU32::new(0),
            dismissed: AtomicU32::new(0),
            fault: AtomicU32::new(0),
            start: AtomicU64::new(0),
            sgi_sent_at: AtomicU64::new(0),
            cpu_off_return: AtomicU64::new(0),
            order: Cell::new(None),
            outcome: Cell::new(Outcome::default()),
            tally: Cell::new(tally),
        }
    }

    /// Gives the CPU an order. The last one must be done.
    pub fn give_order(&self, order: Order) {
        let number = self.issued.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Acquire);
        assert!(
            done == number,
            "an order to a CPU that has not done its last"
        );
        // SAFETY: done = issued, as just checked: the order is the lead's.
        unsafe { self.order.write(Some(order)) };
        self.cpu_off_return.store(0, Ordering::Relaxed);
        self.start.store(0, Ordering::Relaxed);
        self.issued.store(number.wrapping_add(1), Ordering::Release);
    }

    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    /// Publishes the instant, not 0, at which the CPUs of the round call.
    pub fn publish_start(&self, instant: u64) {
        self.start.store(instant, Ordering::Release);
    }

    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    pub fn outcome(&self) -> Option<Outcome> {
        if !self.is_done() {
            return None;
        }
        // SAFETY: done = issued: the outcome is the lead's.
        Some(unsafe { self.outcome.read() })
    }

    pub fn cpu_off_failure(&self) -> Option<i32> {
        let code = self.cpu_off_return.load(Ordering::Acquire);
        (code & RETURNED != 0).then_some(code as u32 as i32)
    }

    /// Lets the CPU go on that waits after its order for the lead's return.
    pub fn release(&self) {
        let number = self.issued.load(Ordering::Relaxed);
        self.released.store(number, Ordering::Release);
    }

    /// Gives the CPU up. It powers off should it still arrive.
    pub fn dismiss(&self) {
        self.dismissed.store(1, Ordering::Release);
    }
}

/// The part of the CPU.
impl Handover {
    pub fn order(&self) -> Option<Order> {
        let number = self.issued.load(Ordering::Acquire);
        if number == self.done.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: done != issued: the order is this CPU's.
        unsafe { self.order.read() }
    }

    pub fn report_ready(&self) {
        let number = self.issued.load(Ordering::Relaxed);
        self.ready.store(number, Ordering::Release);
    }

    pub fn start(&self) -> Option<u64> {
        Some(self.start.load(Ordering::Acquire)).filter(|instant| *instant != 0)
    }

    /// Ends the order with its outcome. There must be one that is not done.
    pub fn finish(&self, outcome: Outcome) {
        let number = self.issued.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        assert!(done != number, "an outcome without an order");
        // SAFETY: done != issued: the outcome is this CPU's.
        unsafe { self.outcome.write(outcome) };
        self.done.store(number, Ordering::Release);
    }

    pub fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    pub fn report_cpu_off_failure(&self, code: i32) {
        let code = RETURNED | u64::from(code as u32);
        self.cpu_off_return.store(code, Ordering::Release);
    }

    /// Reports that the CPU stops, because of an exception or of a wrong context ID.
    pub fn report_fault(&self, cause: Cause) {
        let code = match cause {
            Cause::Context => WRONG_CONTEXT,
            _ => EXCEPTION,
        };
        self.fault.store(code, Ordering::Release);
    }

    pub fn clear_sgi_sent(&self) {
        self.sgi_sent_at.store(0, Ordering::Release);
    }

    /// Returns the instant just before the first wake-up SGI to this CPU.
    pub fn sgi_sent_at(&self) -> Option<u64> {
        Some(self.sgi_sent_at.load(Ordering::Acquire)).filter(|instant| *instant != 0)
    }
}

/// The part of any CPU.
impl Handover {
    /// Returns true if the CPU has an order that is not done, and is not given up.
    pub fn is_busy(&self) -> bool {
        !self.is_done() && !self.is_dismissed()
    }

    pub fn is_dismissed(&self) -> bool {
        self.dismissed.load(Ordering::Acquire) != 0
    }

    pub fn fault(&self) -> Option<Cause> {
        match self.fault.load(Ordering::Acquire) {
            0 => None,
            WRONG_CONTEXT => Some(Cause::Context),
            _ => Some(Cause::Exception),
        }
    }

    /// Records the instant just before a wake-up SGI to this CPU. The first one of a
    /// round counts.
    pub fn record_sgi_sent(&self, instant: u64) {
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        // A second SGI does not change the instant of the first one.
        let at = &self.sgi_sent_at;
        let _ = at.compare_exchange(0, instant, success, failure);
    }

    /// Returns the tally, where the plan needs one.
    ///
    /// # Safety
    /// Order and outcome must be the caller's: done = issued for the lead, done !=
    /// issued for the CPU. No other reference to the tally may be in use.
    #[expect(
        clippy::mut_from_ref,
        reason = "the tally changes hands with the order"
    )]
    pub unsafe fn tally_mut(&self) -> Option<&mut Tally> {
        // SAFETY: the caller's promise: no other CPU reads or writes the tally.
        unsafe { self.tally.as_mut() }.as_deref_mut()
    }
}
