//! Waiting for another CPU. The lead never waits without a deadline; the others
//! wait for the lead as long as it takes, and `watch` ends that where it does not
//! come back.
//!
//! A CPU that waits naps: it arms its timer a little ahead and waits for the
//! interrupt, which stays masked. That keeps it off the memory that the
//! others work on, and where one host CPU emulates many, lets those run. The
//! last stretch to an agreed instant is never napped through
//! (`Way::wait_until`).

use crate::machine::cpu::instructions;
use crate::machine::cpu::instructions::relax;
use crate::machine::env::Env;

/// The length of a nap, and so how late the end of a wait is seen, in
/// microseconds.
pub const NAP_US: u64 = 50;

/// A wait that has lasted for so many microseconds is looked at less and less
/// often: whatever it is for is late, and a part in [`LATE_PART`] of the time
/// that has passed is soon enough to see it.
const LATE_US: u64 = 100_000;
const LATE_PART: u64 = 64;

/// How long the timer may take to be seen pending, in microseconds.
const TIMER_PATIENCE_US: u64 = 10_000;

impl Env {
    /// Polls `condition` until it gives a value, or until the counter passes
    /// `deadline`: then None.
    pub fn poll<T>(&self, deadline: u64, condition: impl FnMut() -> Option<T>) -> Option<T> {
        self.poll_every(NAP_US, deadline, condition)
    }

    /// The same, with naps of so many microseconds to begin with; with 0,
    /// without.
    pub fn poll_every<T>(
        &self,
        nap_us: u64,
        deadline: u64,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let (began, nap) = (self.way.now(), self.us(nap_us));
        loop {
            if let Some(value) = condition() {
                return Some(value);
            }
            let now = self.way.now();
            if now >= deadline {
                // One last look: this CPU may have been held up in between.
                return condition();
            }
            match self.nap_after(now - began, nap) {
                0 => relax(),
                nap => self.nap_until(deadline.min(now + nap)),
            }
        }
    }

    /// How long naps are after so many ticks of waiting, when they were `nap`
    /// at first.
    pub fn nap_after(&self, waited: u64, nap: u64) -> u64 {
        if waited > self.us(LATE_US) {
            nap.max(waited / LATE_PART)
        } else {
            nap
        }
    }

    /// Sleeps until `instant`.
    pub fn sleep_until(&self, instant: u64) {
        while self.way.now() < instant {
            self.nap_until(instant);
        }
    }

    /// Sleeps until `instant`, or until another interrupt is pending. Without
    /// a GIC no interrupt would end a WFI: then the counter is looked at, which
    /// keeps off the memory, too.
    fn nap_until(&self, instant: u64) {
        if self.gic.version() == 0 {
            while self.way.now() < instant {
                core::hint::spin_loop();
            }
            return;
        }
        self.timer.arm(instant);
        instructions::wait_for_interrupt();
        self.timer.disarm();
        // In a guest it stays pending: a hypervisor has put it into a list
        // register, and sees only at the guest's next exit that the timer no
        // more asserts it. The next nap would be none, and a suspend be refused.
        if instructions::is_interrupt_pending() {
            self.gic.acknowledge();
        }
    }

    /// Whether the timer's interrupt reaches this CPU: without it a nap, and
    /// a suspend even more so, would last for ever.
    pub fn timer_wakes(&self) -> bool {
        self.timer.arm(self.way.now());
        let arrives = self.arrives(self.timer.intid);
        self.timer.disarm();
        arrives && self.gic.drain()
    }

    /// Whether this interrupt, of a timer that is due now, arrives within the
    /// time that it may take. What else is pending is acknowledged on the way.
    pub fn arrives(&self, intid: u32) -> bool {
        let deadline = self.way.now() + self.us(TIMER_PATIENCE_US);
        let seen = || {
            let pending = instructions::is_interrupt_pending();
            (pending && self.gic.acknowledge() == Some(intid)).then_some(())
        };
        self.poll_every(0, deadline, seen).is_some()
    }
}
