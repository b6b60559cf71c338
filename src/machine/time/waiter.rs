//! Waits for another CPU, or until a given instant. A waiting CPU naps: it arms its timer to expire
//! shortly and waits for the interrupt, which stays masked. A napping CPU does not access memory
//! that other CPUs use. If one host CPU emulates several CPUs, napping also lets the others run. No
//! CPU naps just before an agreed instant (`CallPath::spin_until`).

use hardware::spec::ticks::Clock;

use crate::machine::call::call_path::CallPath;
use crate::machine::cpu::instructions;
use crate::machine::gic::controller::GicDriver;
use crate::machine::gic::secure_interrupt;
use crate::machine::time::timer::CpuTimer;

/// The initial length of a nap in microseconds, and therefore the longest delay at the end of a
/// normal wait.
pub const NAP_US: u64 = 50;

/// The waiting time, in microseconds, after which naps become longer. An event that takes this long
/// is late anyway, so an additional delay of 1/[`LATE_PART`] of the elapsed time is acceptable.
const LATE_US: u64 = 100_000;
const LATE_PART: u64 = 64;

/// The longest time until the timer interrupt becomes pending, in microseconds.
const TIMER_PATIENCE_US: u64 = 10_000;

/// What a CPU needs to wait: the counter, its timer and its interrupts.
pub struct Waiter {
    pub path: CallPath,
    /// The counter frequency, from the device tree or the lead's CNTFRQ_EL0.
    pub clock: Clock,
    pub timer: CpuTimer,
    pub gic: GicDriver,
}

impl Waiter {
    pub fn now(&self) -> u64 {
        self.path.now()
    }

    pub fn ticks_of_us(&self, microseconds: u64) -> u64 {
        self.clock.ticks(microseconds)
    }

    /// Polls `condition` until it returns a value; returns None once the counter passes `deadline`.
    pub fn poll<T>(&self, deadline: u64, condition: impl FnMut() -> Option<T>) -> Option<T> {
        self.poll_every(NAP_US, deadline, condition)
    }

    /// Polls `condition` like [`Self::poll`], with naps that start at `nap_us` microseconds; 0
    /// means no naps.
    pub fn poll_every<T>(
        &self,
        nap_us: u64,
        deadline: u64,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let began = self.now();
        let nap = self.ticks_of_us(nap_us);
        loop {
            if let Some(value) = condition() {
                return Some(value);
            }
            let now = self.now();
            if now >= deadline {
                // Poll one last time, because this CPU may have been delayed since the last poll.
                return condition();
            }
            match self.nap_length(now - began, nap) {
                0 => instructions::relax(),
                nap => self.nap_until(deadline.min(now + nap)),
            }
        }
    }

    /// Returns the length of a nap after waiting for `waited` ticks. Initially, each nap takes
    /// `nap` ticks.
    pub fn nap_length(&self, waited: u64, nap: u64) -> u64 {
        if waited > self.ticks_of_us(LATE_US) {
            nap.max(waited / LATE_PART)
        } else {
            nap
        }
    }

    pub fn sleep_until(&self, instant: u64) {
        while self.now() < instant {
            self.nap_until(instant);
        }
    }

    /// Sleeps until `instant`, or until another interrupt is pending. Without a GIC, no interrupt
    /// would end a WFI, so the counter is polled instead, without accessing memory.
    fn nap_until(&self, instant: u64) {
        if self.gic.is_absent() {
            while self.now() < instant {
                core::hint::spin_loop();
            }
            return;
        }
        self.timer.arm(instant);
        instructions::wait_for_interrupt();
        self.timer.disarm();
        // In a guest, the interrupt stays pending, because the hypervisor has put it into a list
        // register and does not check until the guest's next exit whether the timer still asserts
        // it. The next nap would end immediately, and a suspend would be refused.
        if instructions::is_interrupt_pending() && self.gic.acknowledge_and_end().is_none() {
            secure_interrupt::record_if_pending();
        }
    }

    /// Returns true if the timer interrupt reaches this CPU. If the interrupt did not arrive, a nap
    /// or even a suspend would last forever. Acknowledges any other pending interrupts.
    pub fn timer_interrupt_arrives(&self) -> bool {
        let intid = Some(self.timer.intid);
        let arrives = || {
            let pending = instructions::is_interrupt_pending();
            (pending && self.gic.acknowledge_and_end() == intid).then_some(())
        };
        self.timer.arm(self.now());
        let deadline = self.now() + self.ticks_of_us(TIMER_PATIENCE_US);
        let seen = self.poll_every(0, deadline, arrives);
        self.timer.disarm();
        seen.is_some() && self.gic.drain_interrupts()
    }
}
