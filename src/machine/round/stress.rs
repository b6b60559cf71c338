//! Random calls on this CPU, while all other CPUs do the same and turn each other on and off. What
//! CPUs know about each other, and their last calls, are in their channels.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use fastrand::Rng;
use hardware::board::CpuIndex;
use hardware::spec::counter_value::CounterValue;
use hardware::spec::psci::ReturnCode;
use smccc::error::SUCCESS;
use smccc::psci::{AffinityState, Error, PSCI_AFFINITY_INFO_64, PSCI_CPU_ON_64};
use suite::measure::{
    Action, ActionDetails, ActionEnd, Outcome, RECENT_CALLS, RecentCall, Stress, StressCall,
    Stressed, TargetView, Violation, judge_stress_call,
};

use crate::machine::boot::layout;
use crate::machine::call::{conduit, firmware};
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::participant::Participant;

/// The longest pause between two calls, in microseconds.
const PAUSE_US: u64 = 100;
/// The shortest and the longest sleep, in microseconds. The shortest may end before the CPU is down.
const SLEEP_US: core::ops::Range<u64> = 20..1_000;
/// How late a wake-up or an arrival may be, in microseconds.
const LATE_US: u64 = 2_000_000;

/// The number that stands for a call that has not returned.
const PENDING: u64 = u64::MAX;

/// True once a CPU has found a violation. All CPUs then stop.
static STOP: AtomicBool = AtomicBool::new(false);

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
    /// The instant at which the last CPU_ON for this CPU succeeded.
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
    fn prepare(&self, seed: u32, index: CpuIndex, is_on: bool) {
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
    fn view(&self) -> TargetView {
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

    fn is_on(&self) -> bool {
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

    /// Records a call that is about to be made, `at` ticks after the start.
    fn begin_call(&self, at: u64, call: StressCall) {
        let made = self.made.load(Ordering::Relaxed);
        let entry = &self.recent[made as usize % RECENT_CALLS];
        for (word, value) in entry.iter().zip([at, call.encode(), PENDING]) {
            word.store(value, Ordering::Relaxed);
        }
        self.calls[call.kind()].fetch_add(1, Ordering::Relaxed);
        self.made.store(made.wrapping_add(1), Ordering::Release);
    }

    /// Records the answer to the last call.
    fn end_call(&self, answer: i32) {
        let made = self.made.load(Ordering::Relaxed);
        let entry = &self.recent[made.wrapping_sub(1) as usize % RECENT_CALLS];
        entry[2].store(u64::from(answer as u32), Ordering::Relaxed);
    }

    fn stressed(&self) -> Stressed {
        let what = self.violation.load(Ordering::Relaxed);
        let what = (what as usize)
            .checked_sub(1)
            .map(|index| Violation::ALL[index]);
        Stressed {
            calls: [0, 1, 2, 3].map(|kind: usize| self.calls[kind].load(Ordering::Relaxed)),
            violation: what.and_then(|what| Some((self.recent_call(0)?, what))),
        }
    }
}

/// Prepares all CPUs for a round. Called on the lead while the others wait for the start. `is_on`
/// returns true for each CPU that takes part.
pub fn prepare(channels: &[CpuChannel], stress: &Stress, is_on: impl Fn(CpuIndex) -> bool) {
    STOP.store(false, Ordering::Relaxed);
    for channel in channels {
        let index = channel.index;
        channel.stress.prepare(stress.seed, index, is_on(index));
    }
}

/// One CPU's calls.
struct Caller<'c> {
    own: Participant,
    stress: &'c Stress,
    start: u64,
    random: Rng,
}

/// Makes random calls from `start` to `end`, or until a CPU finds a violation. Called again on a CPU
/// that has turned off and on in the meantime.
pub fn make_calls(own: Participant, stress: &Stress, start: u64, end: u64) -> Outcome {
    let state = &own.channel.stress;
    if !state.is_on() {
        state.arrivals.fetch_add(1, Ordering::SeqCst);
        state.presence.fetch_or(1, Ordering::SeqCst);
    }
    let mut caller = Caller {
        own,
        stress,
        start,
        random: Rng::with_seed(state.random.load(Ordering::Relaxed)),
    };
    let waiter = &own.parts.waiter;
    waiter.path.spin_until(start);
    while waiter.now() < end && !STOP.load(Ordering::Relaxed) {
        let pause = waiter.ticks_of_us(caller.random.u64(0..PAUSE_US));
        waiter.sleep_until(waiter.now() + pause);
        caller.call();
    }
    Outcome {
        end: ActionEnd::Returned,
        returned_at: CounterValue::new(waiter.now()),
        details: ActionDetails::Stress(state.stressed()),
        ..Outcome::new(Action::Stress)
    }
}

impl Caller<'_> {
    fn state(&self) -> &'static StressState {
        &self.own.channel.stress
    }

    /// Makes one call.
    fn call(&mut self) {
        // The lead only makes calls that return at once, because it must be able to report.
        let is_lead = self.own.channel.index == self.own.parts.lead;
        match self.random.u32(0..16) {
            9..12 if !is_lead => self.turn_off(),
            12.. if !is_lead => self.suspend(),
            6..9 => self.look(),
            _ => self.turn_on(),
        }
        if is_lead {
            self.find_missing();
        }
    }

    fn begin(&self, call: StressCall) {
        let at = self.own.parts.waiter.now() - self.start;
        self.state().begin_call(at, call);
    }

    fn end(&self, answer: i32, violation: Option<Violation>) {
        self.state().end_call(answer);
        if let Some(what) = violation {
            self.report(what);
        }
    }

    fn report(&self, what: Violation) {
        let state = self.state();
        state.violation.store(what as u32 + 1, Ordering::Relaxed);
        STOP.store(true, Ordering::Relaxed);
    }

    fn target(&mut self) -> &'static CpuChannel {
        let channels = self.own.parts.channels;
        &channels[self.random.usize(0..channels.len())]
    }

    fn turn_on(&mut self) {
        let target = self.target();
        let call = StressCall::CpuOn(target.index);
        let before = target.stress.view();
        self.begin(call);
        let answer = self.call_cpu_on(target);
        self.end(
            answer,
            judge_stress_call(call, answer, before, target.stress.view()),
        );
    }

    fn call_cpu_on(&self, target: &CpuChannel) -> i32 {
        let waiter = &self.own.parts.waiter;
        let arguments = [
            target.mpidr().number(),
            layout::secondary_entry_address(),
            target.context_id(waiter.path),
        ];
        let answer = conduit::call(PSCI_CPU_ON_64, arguments)[0] as i32;
        if answer == SUCCESS {
            target
                .stress
                .accepted_at
                .store(waiter.now(), Ordering::SeqCst);
            target.stress.accepted.fetch_add(1, Ordering::SeqCst);
        }
        answer
    }

    fn look(&mut self) {
        let target = self.target();
        let call = StressCall::AffinityInfo(target.index);
        let before = target.stress.view();
        self.begin(call);
        let arguments = [target.mpidr().number(), 0, 0];
        let answer = conduit::call(PSCI_AFFINITY_INFO_64, arguments)[0] as i32;
        self.end(
            answer,
            judge_stress_call(call, answer, before, target.stress.view()),
        );
    }

    /// Calls CPU_OFF, which does not return on correct firmware.
    fn turn_off(&mut self) {
        let state = self.state();
        state.random.store(self.random.u64(..), Ordering::Relaxed);
        self.begin(StressCall::CpuOff);
        // One more departure, and no longer on.
        state.presence.fetch_add(1, Ordering::SeqCst);
        let answer = match firmware::cpu_off() {
            Ok(()) => SUCCESS,
            Err(error) => ReturnCode::from(error).0,
        };
        state.presence.fetch_or(1, Ordering::SeqCst);
        self.end(answer, Some(Violation::StillOn));
    }

    fn suspend(&mut self) {
        let states = || self.stress.states.iter().flatten();
        let count = states().count();
        if count == 0 {
            return;
        }
        let Some(power_state) = states().nth(self.random.usize(0..count)).copied() else {
            return;
        };
        let waiter = &self.own.parts.waiter;
        let sleep = waiter.ticks_of_us(self.random.u64(SLEEP_US));
        let call = StressCall::Suspend(power_state);
        waiter.gic.drain_interrupts();
        self.begin(call);
        let due = waiter.now() + sleep;
        waiter.timer.arm(due);
        let context_id = &self.own.channel.entry.suspend_context;
        let timed = waiter.path.time_suspend(Some(power_state), context_id);
        self.own.set_up_again();
        waiter.gic.drain_interrupts();
        let answer = timed.code.unwrap_or(SUCCESS);
        let view = TargetView::default();
        let limit = CounterValue::new(due + waiter.ticks_of_us(LATE_US));
        let late = (timed.after > limit).then_some(Violation::LateWake);
        self.end(answer, judge_stress_call(call, answer, view, view).or(late));
    }

    /// Finds a CPU that was turned on long ago but has not arrived. Called on the lead.
    fn find_missing(&self) {
        let waiter = &self.own.parts.waiter;
        for channel in self.own.parts.channels {
            let state = &channel.stress;
            let view = state.view();
            let accepted_at = state.accepted_at.load(Ordering::SeqCst);
            let is_due = waiter.now() > accepted_at + waiter.ticks_of_us(LATE_US);
            // `accepted` lags behind the firmware.
            let is_starting = view.accepted.wrapping_sub(view.arrivals) as i32 > 0;
            if !view.is_on && is_starting && is_due {
                self.begin(StressCall::CpuOn(channel.index));
                self.end(SUCCESS, Some(Violation::NotArrived));
                return;
            }
        }
    }
}

/// Turns a CPU on if it is off, so that it finishes its order. Returns true once it has finished.
/// Called on the lead after the end of the calls.
pub fn bring_back(own: Participant, channel: &CpuChannel) -> bool {
    let is_off = || firmware::affinity_info(channel.mpidr()) == Ok(AffinityState::Off);
    if !channel.handover.is_done() && !channel.stress.is_on() && is_off() {
        let context = channel.context_id(own.parts.waiter.path);
        let entry = layout::secondary_entry_address();
        let turned_on = firmware::cpu_on(channel.mpidr(), entry, context);
        // Another CPU's last call may have come first.
        debug_assert!(turned_on != Err(Error::InvalidParameters));
    }
    channel.handover.is_done()
}
