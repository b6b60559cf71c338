//! What CPUs know about each other in a round of random calls, and their last calls.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fastrand::Rng;
use hardware::board::CpuIndex;
use suite::measure::{RECENT_CALLS, RecentCall, StressCall, Stressed, TargetView, Violation};

/// The number that stands for a call that has not returned.
const PENDING: u64 = u64::MAX;

/// A CPU's part of a round of random calls. Other CPUs read what concerns them.
#[derive(Default)]
pub struct StressState {
    /// The state of the CPU's random numbers, which survives CPU_OFF.
    random: AtomicU64,
    /// The number of departures, and in bit 0 whether the CPU is on.
    presence: AtomicU32,
    /// The CPU_ON calls for this CPU that have succeeded.
    accepted: AtomicU32,
    arrivals: AtomicU32,
    /// When the last CPU_ON for this CPU succeeded, by the lead's clock.
    accepted_at: AtomicU64,
    /// The number of calls of each kind.
    calls: [AtomicU32; StressCall::KINDS],
    /// The number of calls so far, and the last ones: when, which and with which answer.
    made: AtomicU32,
    recent: [[AtomicU64; 3]; RECENT_CALLS],
    /// The number of the [`Violation`] that this CPU found, plus one; 0 if it found none.
    violation: AtomicU32,
}

impl StressState {
    /// Prepares a CPU for a round. Called on the lead, before the CPUs start.
    pub fn prepare(&self, seed: u32, index: CpuIndex, is_on: bool) {
        let own_seed = u64::from(seed) << 32 | u64::from(u32::from(index));
        self.random
            .store(Rng::with_seed(own_seed).u64(..), Ordering::Relaxed);
        self.presence.store(is_on.into(), Ordering::Relaxed);
        self.accepted.store(0, Ordering::Relaxed);
        self.arrivals.store(0, Ordering::Relaxed);
        self.made.store(0, Ordering::Relaxed);
        self.violation.store(0, Ordering::Relaxed);
        for count in &self.calls {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Returns what another CPU may know about this one.
    pub fn view(&self) -> TargetView {
        // `accepted` lags behind the firmware, so it is read before `arrivals`.
        let accepted = self.accepted.load(Ordering::SeqCst);
        let arrivals = self.arrivals.load(Ordering::SeqCst);
        let presence = self.presence.load(Ordering::SeqCst);
        TargetView {
            is_on: presence & 1 == 1,
            departures: presence >> 1,
            accepted,
            arrivals,
        }
    }

    /// Records that the CPU has arrived, unless it has been on since the round began. Returns its
    /// random numbers.
    pub fn arrive(&self) -> Rng {
        if !self.is_on() {
            self.arrivals.fetch_add(1, Ordering::SeqCst);
            self.stay_on();
        }
        Rng::with_seed(self.random.load(Ordering::Relaxed))
    }

    /// Records that the CPU begins to turn off, and keeps its random numbers.
    pub fn depart(&self, random: &mut Rng) {
        self.random.store(random.u64(..), Ordering::Relaxed);
        // One more departure, and no longer on.
        self.presence.fetch_add(1, Ordering::SeqCst);
    }

    /// Records that the CPU is on.
    pub fn stay_on(&self) {
        self.presence.fetch_or(1, Ordering::SeqCst);
    }

    /// Records that a CPU_ON for this CPU has succeeded at this time of the lead's clock.
    pub fn accept(&self, lead_clock: u64) {
        self.accepted_at.store(lead_clock, Ordering::SeqCst);
        self.accepted.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns when the last CPU_ON succeeded, by the lead's clock, if the CPU has not arrived since.
    pub fn starting_since(&self) -> Option<u64> {
        let view = self.view();
        let accepted_at = self.accepted_at.load(Ordering::SeqCst);
        // `accepted` lags behind the firmware.
        let is_starting = view.accepted.wrapping_sub(view.arrivals) as i32 > 0;
        (!view.is_on && is_starting).then_some(accepted_at)
    }

    /// Records what was wrong with this CPU's last call.
    pub fn report(&self, what: Violation) {
        self.violation.store(what as u32 + 1, Ordering::Relaxed);
    }

    pub fn is_on(&self) -> bool {
        self.presence.load(Ordering::SeqCst) & 1 == 1
    }

    /// Returns one of the last calls, counted from the newest.
    pub fn recent_call(&self, age: usize) -> Option<RecentCall> {
        let made = self.made.load(Ordering::Acquire) as usize;
        let number = made.checked_sub(age + 1)?;
        let [at, call, answer] = &self.recent[number % RECENT_CALLS];
        let answer = answer.load(Ordering::Relaxed);
        Some(RecentCall {
            at: at.load(Ordering::Relaxed),
            call: StressCall::decode(call.load(Ordering::Relaxed)),
            answer: (answer != PENDING).then_some(answer as u32 as i32),
        })
    }

    /// Records a call just before it is made, `at` ticks after the start.
    pub fn begin_call(&self, at: u64, call: StressCall) {
        let made = self.made.load(Ordering::Relaxed);
        let entry = &self.recent[made as usize % RECENT_CALLS];
        for (word, value) in entry.iter().zip([at, call.encode(), PENDING]) {
            word.store(value, Ordering::Relaxed);
        }
        self.calls[call.kind()].fetch_add(1, Ordering::Relaxed);
        self.made.store(made.wrapping_add(1), Ordering::Release);
    }

    /// Records the answer to the last call.
    pub fn end_call(&self, answer: i32) {
        let made = self.made.load(Ordering::Relaxed);
        let entry = &self.recent[made.wrapping_sub(1) as usize % RECENT_CALLS];
        entry[2].store(u64::from(answer as u32), Ordering::Relaxed);
    }

    pub fn stressed(&self) -> Stressed {
        let number = self.violation.load(Ordering::Relaxed) as usize;
        Stressed {
            calls: self
                .calls
                .each_ref()
                .map(|count| count.load(Ordering::Relaxed)),
            violation: number.checked_sub(1).map(|index| Violation::ALL[index]),
        }
    }
}
