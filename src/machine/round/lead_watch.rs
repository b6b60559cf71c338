//! Watches the lead. If the lead does not return from a call, only another CPU can detect this. The
//! lead publishes its current phase and an instant 10 s after the phase's deadline. Every other CPU
//! that is on waits for the lead, and the first CPU to detect that this instant has passed
//! ends the run. The board's watchdog, if any, is set to expire 10 s after that instant, or sooner
//! if it does not support such a long timeout, but never before that instant.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hardware::board::{Mpidr, NoWatchdog, Watchdog as Description};
use spin::mutex::SpinMutex;
use suite::measure::{Cause, FINISH_US, Loss, RoundPhase};

use crate::machine::cpu::registers;
use crate::machine::round::channel::CpuHandover;
use crate::machine::time::waiter::Waiter;
use crate::machine::watchdog::WatchdogDriver;
use crate::machine::{console, ending};

/// How long the lead may be silent after a phase's deadline.
const GRACE_US: u64 = 10_000_000;

/// The longest time that a round leaves a CPU undisturbed, in microseconds: three times the longest
/// sleep of 2 s (in OS-initiated mode), plus the delay of a chained CPU's own timer and the longest
/// quiet time.
const ASLEEP_US: u64 = 7_500_000;

/// The minimum timeout that a watchdog must support, in seconds: the longest time that the lead may
/// be silent.
pub const WATCHDOG_S: u64 = (ASLEEP_US + FINISH_US + GRACE_US).div_ceil(1_000_000);

/// The deadline while no CPU is waiting for the lead.
const NEVER: u64 = u64::MAX;

/// The lead's current phase and its deadline, as the other CPUs see them.
pub struct LeadWatch {
    until: AtomicU64,
    phase: AtomicU32,
    is_reported: AtomicBool,
    lead: Mpidr,
    /// Used only by the lead.
    watchdog: SpinMutex<Result<WatchdogDriver, NoWatchdog>>,
}

impl LeadWatch {
    /// Returns an inactive watch. `watchdog` is the board's watchdog, if any.
    pub const fn new(lead: Mpidr, watchdog: Result<WatchdogDriver, NoWatchdog>) -> Self {
        Self {
            until: AtomicU64::new(NEVER),
            phase: AtomicU32::new(RoundPhase::TurnOn as u32),
            is_reported: AtomicBool::new(false),
            lead,
            watchdog: SpinMutex::new(watchdog),
        }
    }

    pub fn watchdog(&self) -> Result<Description, NoWatchdog> {
        match &*self.watchdog.lock() {
            Ok(watchdog) => Ok(watchdog.description),
            Err(reason) => Err(*reason),
        }
    }

    /// Starts one of the lead's phases, which must end by `deadline`.
    pub fn begin_phase(&self, waiter: &Waiter, phase: RoundPhase, deadline: u64) {
        let until = deadline.saturating_add(waiter.ticks_of_us(GRACE_US));
        self.phase.store(phase as u32, Ordering::Relaxed);
        self.until.store(until, Ordering::Release);
        if let Ok(watchdog) = self.watchdog.lock().as_mut() {
            // The watchdog does not expire before another CPU would report the loss of the lead,
            // and normally expires well after that, because the CPU's report is more detailed.
            let least = until.saturating_sub(waiter.now());
            let wish = least + waiter.ticks_of_us(GRACE_US);
            watchdog.arm(least, wish, waiter.clock.believed());
        }
    }

    /// Ends the last phase and disarms the watchdog, because statistics and printing have no
    /// deadline.
    pub fn end_round(&self) {
        self.until.store(NEVER, Ordering::Release);
        if let Ok(watchdog) = self.watchdog.lock().as_mut() {
            watchdog.disarm();
        }
    }

    /// Waits until `given` returns a value. Called on CPUs other than the lead. Returns None if the
    /// lead has given up on the CPU.
    pub fn wait_for_lead<T>(
        &self,
        waiter: &Waiter,
        handover: &CpuHandover,
        mut given: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let waited = waiter.poll(NEVER, || {
            if handover.is_dismissed() {
                return Some(None);
            }
            let value = given();
            if value.is_none() && waiter.now() > self.until.load(Ordering::Acquire) {
                self.end_run_without_lead();
            }
            value.map(Some)
        });
        waited.flatten()
    }

    fn end_run_without_lead(&self) -> ! {
        if self.is_reported.swap(true, Ordering::Relaxed) {
            ending::park();
        }
        let phase = self.phase.load(Ordering::Relaxed);
        let loss = Loss {
            phase: RoundPhase::ALL[phase as usize % RoundPhase::ALL.len()],
            cause: Cause::Timeout,
        };
        console::force_unlock();
        ending::give_up(&format_args!(
            "the lead, CPU {}, was lost: {loss} (seen by CPU {})",
            self.lead,
            registers::mpidr()
        ))
    }
}
