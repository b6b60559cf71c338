//! The hand-over between the lead and one other CPU.
//!
//! The lead writes an order and then increments `issued`. The CPU executes the order, writes its
//! outcome and then sets `done` equal to `issued`. While `done` differs from `issued`, the order,
//! outcome and tally belong to the CPU; at all other times they belong to the lead. A lost CPU
//! never returns ownership to the lead.

use crate::cells::{AtomicU32, AtomicU64, Ordering, SharedCell};

/// The bit of `cpu_off_return` that is set once CPU_OFF has returned.
const RETURNED: u64 = 1 << 32;

const EXCEPTION: u32 = 1;
const WRONG_CONTEXT: u32 = 2;

/// The reason a CPU stopped before completing its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The CPU took an exception.
    Exception,
    /// The CPU was entered with a context ID other than its own.
    WrongContext,
}

/// The state shared by the lead and one other CPU. Its counters contain order numbers.
///
/// `Order` and `Outcome` are the messages. `Tally` is memory that is passed along with the
/// messages, for results that are too large for an outcome.
#[derive(Debug)]
pub struct Handover<Order, Outcome, Tally: 'static> {
    issued: AtomicU32,
    ready: AtomicU32,
    done: AtomicU32,
    released: AtomicU32,
    dismissed: AtomicU32,
    stop: AtomicU32,
    start: AtomicU64,
    sgi_sent_at: AtomicU64,
    cpu_off_return: AtomicU64,
    order: SharedCell<Option<Order>>,
    outcome: SharedCell<Outcome>,
    tally: SharedCell<Option<&'static mut Tally>>,
}

// SAFETY: access to `order`, `outcome` and `tally` is synchronized through `issued` and `done`,
// which are stored with Release and loaded with Acquire. Everything else is atomic.
unsafe impl<Order: Send, Outcome: Send, Tally: Send> Sync for Handover<Order, Outcome, Tally> {}

/// Methods for the lead.
impl<Order: Copy, Outcome: Copy + Default, Tally> Handover<Order, Outcome, Tally> {
    /// Returns a hand-over with no pending order.
    pub fn new(tally: Option<&'static mut Tally>) -> Self {
        Self {
            issued: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            done: AtomicU32::new(0),
            released: AtomicU32::new(0),
            dismissed: AtomicU32::new(0),
            stop: AtomicU32::new(0),
            start: AtomicU64::new(0),
            sgi_sent_at: AtomicU64::new(0),
            cpu_off_return: AtomicU64::new(0),
            order: SharedCell::new(None),
            outcome: SharedCell::new(Outcome::default()),
            tally: SharedCell::new(tally),
        }
    }

    /// Issues an order to the CPU.
    ///
    /// # Panics
    /// Panics if the last order is not done.
    pub fn give_order(&self, order: Order) {
        let number = self.issued.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Acquire);
        assert!(
            done == number,
            "order given to a CPU whose last order is not done"
        );
        // SAFETY: done = issued, as just checked, so the order belongs to the lead.
        unsafe { self.order.write(Some(order)) };
        self.cpu_off_return.store(0, Ordering::Relaxed);
        self.start.store(0, Ordering::Relaxed);
        self.issued.store(number.wrapping_add(1), Ordering::Release);
    }

    /// Returns true if the CPU has reported that it is ready to start its order.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    /// Publishes the nonzero instant at which the round's CPUs make their calls.
    pub fn publish_start(&self, instant: u64) {
        self.start.store(instant, Ordering::Release);
    }

    /// Returns the outcome of the last order, or None if the order is not done yet.
    pub fn outcome(&self) -> Option<Outcome> {
        if !self.is_done() {
            return None;
        }
        // SAFETY: done = issued, so the outcome belongs to the lead.
        Some(unsafe { self.outcome.read() })
    }

    /// Returns the code that CPU_OFF returned, if it has returned since the last order.
    pub fn cpu_off_failure(&self) -> Option<i32> {
        let code = self.cpu_off_return.load(Ordering::Acquire);
        (code & RETURNED != 0).then_some(code as u32 as i32)
    }

    /// Releases the CPU, which completes its order and then waits until the lead has returned.
    pub fn release(&self) {
        let number = self.issued.load(Ordering::Relaxed);
        self.released.store(number, Ordering::Release);
    }

    /// Gives up on the CPU. If the CPU arrives late, it powers itself off.
    pub fn dismiss(&self) {
        self.dismissed.store(1, Ordering::Release);
    }
}

/// Methods for the CPU.
impl<Order: Copy, Outcome: Copy, Tally> Handover<Order, Outcome, Tally> {
    /// Returns the pending order, if any.
    pub fn order(&self) -> Option<Order> {
        let number = self.issued.load(Ordering::Acquire);
        if number == self.done.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: done != issued, so the order belongs to this CPU.
        unsafe { self.order.read() }
    }

    /// Reports that the CPU is ready to start its order.
    pub fn report_ready(&self) {
        let number = self.issued.load(Ordering::Relaxed);
        self.ready.store(number, Ordering::Release);
    }

    /// Returns the instant at which the round's CPUs make their calls, once it is published.
    pub fn start(&self) -> Option<u64> {
        Some(self.start.load(Ordering::Acquire)).filter(|instant| *instant != 0)
    }

    /// Completes the order with its outcome.
    ///
    /// # Panics
    /// Panics if no order is pending.
    pub fn finish(&self, outcome: Outcome) {
        let number = self.issued.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        assert!(done != number, "outcome reported without an order");
        // SAFETY: done != issued, so the outcome belongs to this CPU.
        unsafe { self.outcome.write(outcome) };
        self.done.store(number, Ordering::Release);
    }

    /// Returns true once the lead has released the CPU.
    pub fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    /// Reports that CPU_OFF has returned, with its return code.
    pub fn report_cpu_off_failure(&self, code: i32) {
        let returned = RETURNED | u64::from(code as u32);
        self.cpu_off_return.store(returned, Ordering::Release);
    }

    /// Reports that the CPU has stopped.
    pub fn report_stop(&self, stop: Stop) {
        let code = match stop {
            Stop::Exception => EXCEPTION,
            Stop::WrongContext => WRONG_CONTEXT,
        };
        self.stop.store(code, Ordering::Release);
    }

    /// Discards the record of the last round's wake-up SGIs.
    pub fn clear_sgi_sent(&self) {
        self.sgi_sent_at.store(0, Ordering::Release);
    }

    /// Returns the instant just before the first wake-up SGI to this CPU.
    pub fn sgi_sent_at(&self) -> Option<u64> {
        Some(self.sgi_sent_at.load(Ordering::Acquire)).filter(|instant| *instant != 0)
    }
}

/// Methods for any CPU.
impl<Order, Outcome, Tally> Handover<Order, Outcome, Tally> {
    /// Returns true if the last order is done, or if no order was given.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)
    }

    /// Returns true if the CPU has a pending order that it can still complete: it has not stopped,
    /// and the lead has not given up on it.
    pub fn is_busy(&self) -> bool {
        !self.is_done() && !self.is_dismissed() && self.stop().is_none()
    }

    /// Returns true if the lead has given up on the CPU.
    pub fn is_dismissed(&self) -> bool {
        self.dismissed.load(Ordering::Acquire) != 0
    }

    /// Returns the reason the CPU stopped, or None if it has not stopped.
    pub fn stop(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Acquire) {
            0 => None,
            WRONG_CONTEXT => Some(Stop::WrongContext),
            _ => Some(Stop::Exception),
        }
    }

    /// Records the instant just before a wake-up SGI to this CPU. Only the first SGI in a round
    /// counts.
    pub fn record_sgi_sent(&self, instant: u64) {
        // A second SGI does not overwrite the instant of the first.
        let _ = self
            .sgi_sent_at
            .compare_exchange(0, instant, Ordering::Release, Ordering::Relaxed);
    }

    /// Returns the tally, if any.
    ///
    /// # Safety
    /// The order and outcome must belong to the caller: done = issued for the lead, done != issued
    /// for the CPU. No other reference to the tally may be in use.
    #[expect(
        clippy::mut_from_ref,
        reason = "access to the tally is transferred with the order"
    )]
    pub unsafe fn tally_mut(&self) -> Option<&mut Tally> {
        // SAFETY: the caller guarantees that no other CPU reads or writes the tally.
        unsafe { self.tally.as_mut() }.as_deref_mut()
    }
}
