//! The watch over the lead. Whoever waits for another CPU has a deadline; the
//! lead's own return from a call can only be waited for by another CPU.
//!
//! The lead says by when it will be heard of again, and in what step it is.
//! Each other CPU that is on waits for the lead and for nothing else, and so
//! sees it when that instant passes: the first to see it says so and ends the
//! run. Where the lead is alone, that is left to the board's watchdog, if it
//! has one: it is set to the same instant.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::machine::console;
use crate::machine::cpu::registers;
use crate::machine::ending;
use crate::machine::ending::EarlyEnd;
use crate::machine::env;
use crate::machine::env::Env;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::lead::FINISH_US;
use crate::machine::watchdog::driver::Watchdog;
use psci_bench::board::{NoWatchdog, Watchdog as Description};
use psci_bench::measure::{Cause, Loss, Step};
use spin::mutex::SpinMutex;

/// How far beyond a step's own deadline the lead may be silent.
const GRACE_US: u64 = 10_000_000;

/// The longest that a round leaves a CPU alone, in microseconds: three times the
/// 2 s of the longest sleep, in OS-initiated mode, and what a chained CPU's own
/// timer is behind.
const ASLEEP_US: u64 = 7_000_000;

/// What is asked of a watchdog, in seconds: to wait for as long as the lead may
/// be silent in the longest of all steps. One that can not is not announced.
pub const WATCHDOG_S: u64 = (ASLEEP_US + FINISH_US + GRACE_US) / 1_000_000;

/// Nobody waits for the lead.
const NEVER: u64 = u64::MAX;

/// By when the lead will be heard of, and what it does meanwhile.
pub struct LeadWatch {
    until: AtomicU64,
    step: AtomicU32,
    said: AtomicBool,
    /// The lead's alone.
    watchdog: SpinMutex<Result<Watchdog, NoWatchdog>>,
}

impl LeadWatch {
    /// No watch yet; `watchdog` is the board's.
    pub const fn new(watchdog: Result<Watchdog, NoWatchdog>) -> Self {
        Self {
            until: AtomicU64::new(NEVER),
            step: AtomicU32::new(Step::TurnOn as u32),
            said: AtomicBool::new(false),
            watchdog: SpinMutex::new(watchdog),
        }
    }
}

impl Env {
    /// The watchdog that resets the board, or why none does.
    pub fn watchdog(&self) -> Result<Description, NoWatchdog> {
        match &*self.watch.watchdog.lock() {
            Ok(watchdog) => Ok(watchdog.description),
            Err(why) => Err(*why),
        }
    }

    /// The lead's: it begins `step`, which ends at `deadline` at the latest.
    pub fn begin_watch(&self, step: Step, deadline: u64) {
        let until = deadline.saturating_add(self.us(GRACE_US));
        self.watch.step.store(step as u32, Ordering::Relaxed);
        self.watch.until.store(until, Ordering::Release);
        if let Ok(watchdog) = self.watch.watchdog.lock().as_mut() {
            // Later than another CPU sees it, which can say more; but in no
            // case before.
            let least = until.saturating_sub(self.way.now());
            watchdog.arm(least, least + self.us(GRACE_US), self.clock.believed());
        }
    }

    /// The lead's: it may take its time again, for statistics and printing.
    pub fn end_watch(&self) {
        self.watch.until.store(NEVER, Ordering::Release);
        if let Ok(watchdog) = self.watch.watchdog.lock().as_mut() {
            watchdog.disarm();
        }
    }

    /// Another CPU's: waits for what the lead is to give. None when nothing is
    /// asked of this CPU any more.
    pub fn attend<T>(&self, slot: &CpuChannel, mut given: impl FnMut() -> Option<T>) -> Option<T> {
        let waited = self.poll(NEVER, || {
            if slot.is_dismissed() {
                return Some(None);
            }
            let value = given();
            if value.is_none() && self.way.now() > self.watch.until.load(Ordering::Acquire) {
                self.report_lead();
            }
            value.map(Some)
        });
        waited.flatten()
    }

    /// Ends the run: the lead has not come back.
    fn report_lead(&self) -> ! {
        if self.watch.said.swap(true, Ordering::Relaxed) {
            env::park();
        }
        let step = self.watch.step.load(Ordering::Relaxed);
        let loss = Loss {
            step: Step::ALL[step as usize % Step::ALL.len()],
            cause: Cause::Timeout,
        };
        console::force_unlock();
        ending::end_run(&EarlyEnd::Machine(&format_args!(
            "the lead, CPU {:#x}, is lost: {loss} (seen by CPU {:#x})",
            self.slots[self.lead].mpidr,
            registers::mpidr()
        )))
    }
}
