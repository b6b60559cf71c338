//! Random calls on this CPU, while all other CPUs do the same and turn each other on and off.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastrand::Rng;
use hardware::board::CpuIndex;
use hardware::spec::counter_value::CounterValue;
use smccc::error::SUCCESS;
use smccc::psci::{AffinityState, PSCI_AFFINITY_INFO_64, PSCI_CPU_ON_64};
use suite::measure::{
    Action, ActionDetails, ActionEnd, Outcome, Stress, StressCall, TargetView, Violation,
    judge_stress_call,
};

use crate::machine::call::call_path::ReturnPath;
use crate::machine::call::{conduit, firmware};
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::stress_state::StressState;
use crate::machine::time::waiter::Waiter;

/// The longest pause between two calls, in microseconds.
const PAUSE_US: u64 = 100;
/// The shortest and the longest sleep, in microseconds. The shortest may end before the CPU is down.
const SLEEP_US: core::ops::Range<u64> = 20..1_000;
/// How late a wake-up or an arrival may be, in microseconds of the lead's clock.
const LATE_US: u64 = 2_000_000;
/// The most that the lead's clock advances between two of the lead's calls, in microseconds.
const CLOCK_STEP_US: u64 = 10_000;

/// True once a CPU has found a violation. All CPUs then stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// The lead's clock: how long the lead has been making calls, in ticks. If all CPUs stand still, for
/// example because an emulator's host is busy, so does this clock. Otherwise, every CPU would seem
/// to be late.
static LEAD_CLOCK: AtomicU64 = AtomicU64::new(0);

fn lead_clock() -> u64 {
    LEAD_CLOCK.load(Ordering::Relaxed)
}

/// Prepares all CPUs for a round. Called on the lead while the others wait for the start. `is_on`
/// returns true for each CPU that takes part.
pub fn prepare(channels: &[CpuChannel], stress: &Stress, is_on: impl Fn(CpuIndex) -> bool) {
    STOP.store(false, Ordering::Relaxed);
    LEAD_CLOCK.store(0, Ordering::Relaxed);
    for channel in channels {
        let index = channel.index;
        channel.stress.prepare(stress.seed, index, is_on(index));
    }
}

/// A CPU that makes random calls, and what it needs for them.
pub struct Caller<'c> {
    pub channel: &'static CpuChannel,
    pub channels: &'static [CpuChannel],
    pub waiter: &'static Waiter,
    /// True on the lead, which only makes calls that return at once, because it must be able to
    /// report.
    pub is_lead: bool,
    pub stress: &'c Stress,
    /// The round's start.
    pub start: u64,
    /// Sets up this CPU after a suspend.
    pub set_up_again: &'c dyn Fn(),
}

impl Caller<'_> {
    /// Makes random calls until `end`, or until a CPU finds a violation. Called again on a CPU that
    /// has turned off and on in the meantime.
    pub fn make_calls(&self, end: u64) -> Outcome {
        let (state, waiter) = (self.state(), self.waiter);
        let mut random = state.arrive();
        waiter.path.spin_until(self.start);
        let mut last_call = self.start;
        while waiter.now() < end && !STOP.load(Ordering::Relaxed) {
            let pause = waiter.ticks_of_us(random.u64(0..PAUSE_US));
            waiter.sleep_until(waiter.now() + pause);
            self.call(&mut random);
            if self.is_lead {
                last_call = self.advance_clock(last_call);
                self.find_missing();
            }
        }
        Outcome {
            end: ActionEnd::Returned,
            returned_at: CounterValue::new(waiter.now()),
            details: ActionDetails::Stress(state.stressed()),
            ..Outcome::new(Action::Stress)
        }
    }

    const fn state(&self) -> &'static StressState {
        &self.channel.stress
    }

    /// Makes one call.
    fn call(&self, random: &mut Rng) {
        match random.u32(0..16) {
            9..12 if !self.is_lead => self.turn_off(random),
            12.. if !self.is_lead => self.suspend(random),
            6..9 => self.look(random),
            _ => self.turn_on(random),
        }
    }

    /// Advances the lead's clock. Returns the current instant.
    fn advance_clock(&self, last_call: u64) -> u64 {
        let now = self.waiter.now();
        let most = self.waiter.ticks_of_us(CLOCK_STEP_US);
        let step = now.saturating_sub(last_call).min(most);
        LEAD_CLOCK.fetch_add(step, Ordering::Relaxed);
        now
    }

    fn begin(&self, call: StressCall) {
        let at = self.waiter.now() - self.start;
        self.state().begin_call(at, call);
    }

    fn end(&self, answer: i32, violation: Option<Violation>) {
        self.state().end_call(answer);
        if let Some(what) = violation {
            self.report(what);
        }
    }

    fn report(&self, what: Violation) {
        self.state().report(what);
        STOP.store(true, Ordering::Relaxed);
    }

    fn target(&self, random: &mut Rng) -> &'static CpuChannel {
        &self.channels[random.usize(0..self.channels.len())]
    }

    fn turn_on(&self, random: &mut Rng) {
        let target = self.target(random);
        self.ask(StressCall::CpuOn(target.index), target, || {
            let arguments = target.cpu_on_arguments(self.waiter.path);
            let answer = conduit::call(PSCI_CPU_ON_64, arguments)[0] as i32;
            if answer == SUCCESS {
                target.stress.accept(lead_clock());
            }
            answer
        });
    }

    fn look(&self, random: &mut Rng) {
        let target = self.target(random);
        self.ask(StressCall::AffinityInfo(target.index), target, || {
            let arguments = [target.mpidr().number(), 0, 0];
            conduit::call(PSCI_AFFINITY_INFO_64, arguments)[0] as i32
        });
    }

    /// Makes a call about another CPU, and judges the answer.
    fn ask(&self, call: StressCall, target: &CpuChannel, make: impl FnOnce() -> i32) {
        let before = target.stress.view();
        self.begin(call);
        let answer = make();
        let after = target.stress.view();
        self.end(answer, judge_stress_call(call, answer, before, after));
    }

    /// Calls CPU_OFF, which does not return on correct firmware.
    fn turn_off(&self, random: &mut Rng) {
        let state = self.state();
        self.begin(StressCall::CpuOff);
        state.depart(random);
        let answer = firmware::code_of(firmware::cpu_off());
        state.stay_on();
        self.end(answer, Some(Violation::StillOn));
    }

    fn suspend(&self, random: &mut Rng) {
        // The states come first in the array.
        let count = self.stress.states.iter().flatten().count();
        if count == 0 {
            return;
        }
        let Some(power_state) = self.stress.states[random.usize(0..count)] else {
            return;
        };
        let waiter = self.waiter;
        let sleep = waiter.ticks_of_us(random.u64(SLEEP_US));
        let call = StressCall::Suspend(power_state);
        waiter.gic.drain_interrupts();
        self.begin(call);
        let due = waiter.now() + sleep;
        waiter.timer.arm(due);
        let asleep_since = lead_clock();
        let entry = &self.channel.entry;
        let timed = waiter.path.time_suspend(Some(power_state), entry);
        (self.set_up_again)();
        waiter.gic.drain_interrupts();
        let answer = timed.code.unwrap_or(SUCCESS);
        let view = TargetView::default();
        let lost =
            (timed.return_path == ReturnPath::WrongContext).then_some(Violation::WrongContext);
        let has_slept = lead_clock() - asleep_since;
        let late = (has_slept > waiter.ticks_of_us(LATE_US)).then_some(Violation::LateWake);
        self.end(
            answer,
            judge_stress_call(call, answer, view, view)
                .or(lost)
                .or(late),
        );
    }

    /// Finds a CPU that was turned on long ago but has not arrived. Called on the lead.
    fn find_missing(&self) {
        let waiter = self.waiter;
        for channel in self.channels {
            let accepted_at = channel.stress.starting_since();
            let late = waiter.ticks_of_us(LATE_US);
            if accepted_at.is_some_and(|instant| lead_clock() > instant + late) {
                self.begin(StressCall::CpuOn(channel.index));
                self.end(SUCCESS, Some(Violation::NotArrived));
                return;
            }
        }
    }
}

/// Turns a CPU on if it is off, so that it finishes its order. Returns true once it has finished.
/// Called on the lead after the end of the calls.
pub fn bring_back(waiter: &Waiter, channel: &CpuChannel) -> bool {
    let is_off = || firmware::affinity_info(channel.mpidr()) == Ok(AffinityState::Off);
    if !channel.handover.is_done() && !channel.stress.is_on() && is_off() {
        // The answer does not matter: another CPU's last call may have come first.
        conduit::call(PSCI_CPU_ON_64, channel.cpu_on_arguments(waiter.path));
    }
    channel.handover.is_done()
}
