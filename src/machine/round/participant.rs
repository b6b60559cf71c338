//! Executes one CPU's order in a round. The lead and the other CPUs use the same code.

use core::sync::atomic::Ordering;

use hardware::board::{CpuIndex, GicVersion, NoFrame};
use hardware::devices::its::NoLpi;
use hardware::spec::counter_value::CounterValue;
use hardware::spec::pmf::{Interface, ReadError, Stamp};
use hardware::spec::stat::{Rise, Statistics};
use smccc::psci::{PSCI_AFFINITY_INFO_64, PSCI_CPU_ON_64, PSCI_SET_SUSPEND_MODE};
use spin::Once;
use suite::measure::order::Order;
use suite::measure::{
    Action, ActionDetails, ActionEnd, Identity, Interrupt, LoneCall, NoCpuOff, Outcome, PowerCycle,
    Preparation, SingleCall, Stress, Suspended, Task, Window,
};
use suite::plan::Load;
use sync::Stop;

use crate::machine::call::call_path::{CallPath, FirmwareFunction, ReturnPath, TimedCall};
use crate::machine::call::operation_loop::{self, LoopParts};
use crate::machine::call::{conduit, firmware};
use crate::machine::cpu::cache_lines::DirtyLines;
use crate::machine::cpu::power_mark::PowerMark;
use crate::machine::cpu::{cycle_counter, instructions, registers};
use crate::machine::ending;
use crate::machine::gic::its::ItsDriver;
use crate::machine::gic::target::GicError;
use crate::machine::memory::probe;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::context::Context;
use crate::machine::round::lead_watch::LeadWatch;
use crate::machine::round::stress::Caller;
use crate::machine::round::{interrupted, suspend_load, timer_load};
use crate::machine::time::timer::CpuTimer;
use crate::machine::time::waiter::Waiter;
use crate::machine::timer_frame::TimerFrameDriver;

/// The last part of the wait before a start, in microseconds, during which a CPU does not nap.
const SPIN_US: u64 = 100;
/// How much earlier than the other CPUs the lead wakes up, in microseconds.
const AHEAD_US: u64 = 30;

/// What all CPUs use in a round. It does not change while other CPUs are on.
pub struct RoundParts {
    pub channels: &'static [CpuChannel],
    pub lead: CpuIndex,
    pub waiter: Waiter,
    pub pmf: Result<Interface, ReadError>,
    /// The reason why CPU_OFF is not used, if it is already known.
    pub no_cpu_off: Option<NoCpuOff>,
    pub guard_timer: Option<CpuTimer>,
    /// The timer frame that wakes the lead, or the reason why it is unavailable.
    pub timer_frame: Result<TimerFrameDriver, NoFrame>,
    /// The ITS, or the reason why the lead cannot use it.
    pub its: Result<ItsDriver, NoLpi>,
    pub dirty_lines: DirtyLines,
    pub watch: LeadWatch,
    /// True in a KVM guest, where CCSIDR_EL1 is not read because KVM returns a made-up value.
    pub is_kvm_guest: bool,
}

/// The parts of a round, initialized before any other CPU is turned on.
pub static PARTS: Once<RoundParts> = Once::new();

/// Called when the CPU is ready. Waits for the agreed instant and returns it. Returns None if the
/// round is canceled.
type AwaitStart<'s> = dyn FnMut() -> Option<u64> + 's;

/// A suspend and the measured call, which is the suspend itself or the first call after it.
struct SuspendCalls<'c> {
    suspend: &'c TimedCall,
    measured: &'c TimedCall,
    /// The PSCI_STAT values before the suspend.
    statistics_before: &'c Statistics,
}

/// The calling CPU as a participant in rounds: its own channel, and what all CPUs use.
#[derive(Clone, Copy)]
pub struct Participant {
    pub channel: &'static CpuChannel,
    pub parts: &'static RoundParts,
}

impl Participant {
    /// Sets up this CPU's timer and GIC. Called on each entry. Returns an error if the CPU cannot
    /// participate.
    pub fn set_up(&self) -> Result<(), GicError> {
        let Waiter { timer, gic, .. } = &self.parts.waiter;
        timer.disarm();
        self.channel.identity.call_once(|| Identity {
            clock_mhz: cycle_counter::measure_clock_mhz(&self.parts.waiter),
            power_kept_on: probe::is_power_kept_on(),
            ..registers::read_identity(self.parts.is_kvm_guest)
        });
        gic.init_cpu(&self.channel.gic, &[timer.intid])?;
        let is_proven = &self.channel.timer_is_proven;
        if gic.version().is_some() && !is_proven.load(Ordering::Relaxed) {
            if !self.parts.waiter.timer_interrupt_arrives() {
                return Err(match gic.version() {
                    _ if instructions::is_fiq_pending() => GicError::HiddenTimer(timer.intid),
                    Some(GicVersion::V2) if registers::has_gic_registers() => {
                        GicError::OtherGic(timer.intid)
                    }
                    _ => GicError::SilentTimer(timer.intid),
                });
            }
            is_proven.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Sets up this CPU on each entry after boot. A failure ends the run: setup succeeded
    /// before, so it should not fail now, and without it no interrupt could wake the CPU.
    pub fn set_up_again(&self) {
        if let Err(reason) = self.set_up() {
            panic!("{reason}");
        }
    }

    /// Waits until `given` returns a value. Called on CPUs other than the lead. Returns None if the
    /// lead has given up on the CPU.
    pub fn wait_for_lead<T>(&self, given: impl FnMut() -> Option<T>) -> Option<T> {
        let RoundParts { watch, waiter, .. } = self.parts;
        watch.wait_for_lead(waiter, &self.channel.handover, given)
    }

    /// Executes `order`. Calls `agree_on_start` once this CPU is ready.
    pub fn execute_order(&self, order: &Order, agree_on_start: &mut AwaitStart) -> Outcome {
        let outcome = Outcome::new(order.action);
        if order.action.goes_down() {
            self.parts.dirty_lines.dirty(order.round.dirty);
        }
        let await_start = &mut || self.wait_for_start(agree_on_start);
        match order.action {
            Action::None => outcome,
            Action::Suspend { .. } | Action::SystemSuspend => {
                self.suspend(order, None, await_start)
            }
            Action::ColdCall { call, preparation } => {
                let Some(function) = &self.function(call) else {
                    return Outcome {
                        end: ActionEnd::GaveUp,
                        ..outcome
                    };
                };
                match preparation {
                    Preparation::Suspend { .. } => self.suspend(order, Some(function), await_start),
                    Preparation::Warm => {
                        self.call_after_warm_up(order, function, CallPath::time_call, await_start)
                    }
                    Preparation::Evict => self.call_after_warm_up(
                        order,
                        function,
                        CallPath::time_call_evicted,
                        await_start,
                    ),
                }
            }
            Action::Help => self.help_others(order, await_start),
            Action::Interrupt | Action::Expire | Action::Stress => self.observe(order, await_start),
            Action::ReadBack => self.add_timestamps(Outcome {
                end: ActionEnd::ReadBack,
                returned_at: CounterValue::new(self.parts.waiter.now()),
                ..outcome
            }),
            Action::Version
            | Action::Call(_)
            | Action::Repeat { .. }
            | Action::Off
            | Action::TimedOff { .. } => match await_start() {
                Some(at) => {
                    let start = CounterValue::new(at);
                    self.call_at(order, at, Outcome { start, ..outcome })
                }
                None => outcome,
            },
        }
    }

    /// Executes an order that consists of one call, or one call in a loop, at `start`.
    fn call_at(&self, order: &Order, start: u64, outcome: Outcome) -> Outcome {
        let waiter = &self.parts.waiter;
        if let Action::Repeat { operation, count } = order.action {
            let other = order.round.participants.other(self.channel.index);
            let parts = LoopParts {
                waiter,
                own: &self.channel.gic,
                other: other.map(|other| &self.parts.channels[other.index()].gic),
                replies: order.round.participants.replies(self.channel.index),
                pmf: self.parts.pmf,
                its: self.parts.its.as_ref().ok(),
            };
            return operation_loop::repeat_operation(operation, count, start, &parts, outcome);
        }
        if let Action::Call(lone_call) = order.action {
            return self.call_once(order, lone_call, start, outcome);
        }
        waiter.path.spin_until(start);
        if order.action.turns_off() {
            // The outcome is published before CPU_OFF, which does not return. From now on, the lead
            // either does nothing or is already polling AFFINITY_INFO.
            return Outcome {
                end: ActionEnd::WentOff,
                details: ActionDetails::PowerCycle(PowerCycle {
                    lead_active_at: CounterValue::new(start + order.times.due),
                    ..PowerCycle::default()
                }),
                before: CounterValue::new(waiter.now()),
                ..outcome
            };
        }
        let call = waiter.path.time_call(&FirmwareFunction::VERSION);
        self.finish_call(order, start, &call, outcome)
    }

    /// Makes a call for its return value, in a round that started at `start`.
    fn call_once(&self, order: &Order, call: LoneCall, start: u64, outcome: Outcome) -> Outcome {
        let waiter = &self.parts.waiter;
        let channel = |cpu: CpuIndex| &self.parts.channels[cpu.index()];
        let (function, arguments) = match call {
            LoneCall::CpuOn(target) => (
                PSCI_CPU_ON_64,
                channel(target).cpu_on_arguments(waiter.path),
            ),
            LoneCall::AffinityInfo(target) => {
                let target = channel(target).mpidr().number();
                (PSCI_AFFINITY_INFO_64, [target, 0, 0])
            }
            LoneCall::SetSuspendMode(mode) => (PSCI_SET_SUSPEND_MODE, [mode.into(), 0, 0]),
        };
        waiter.path.spin_until(start + order.times.call);
        let [x0, ..] = conduit::call(function, arguments);
        let quiet_end = self.wait_for_quiet_end(order, start);
        Outcome {
            end: ActionEnd::Returned,
            code: Some(x0 as i32),
            quiet_end: CounterValue::new(quiet_end),
            ..outcome
        }
    }

    fn finish_call(
        &self,
        order: &Order,
        start: u64,
        call: &TimedCall,
        outcome: Outcome,
    ) -> Outcome {
        let quiet_end = self.wait_for_quiet_end(order, start);
        self.add_timestamps(Outcome {
            end: ActionEnd::Returned,
            code: call.code,
            before: call.before,
            returned_at: call.after,
            quiet_end: CounterValue::new(quiet_end),
            ..outcome
        })
    }

    /// Returns the function for a single call, or None if the firmware does not implement it.
    fn function(&self, call: SingleCall) -> Option<FirmwareFunction> {
        Some(match call {
            SingleCall::Version => FirmwareFunction::VERSION,
            SingleCall::ReadStamp => {
                let stamp = Stamp::EnterPsci.tid();
                FirmwareFunction {
                    id: self.parts.pmf.ok()?.get_timestamp(),
                    arguments: [stamp.into(), self.channel.mpidr().number(), 0],
                }
            }
        })
    }

    /// Makes a call once as a warm-up, and then again with `time_call`.
    fn call_after_warm_up(
        &self,
        order: &Order,
        function: &FirmwareFunction,
        time_call: fn(CallPath, &FirmwareFunction) -> TimedCall,
        await_start: &mut AwaitStart,
    ) -> Outcome {
        let path = self.parts.waiter.path;
        let outcome = Outcome::new(order.action);
        let Some(at) = await_start() else {
            return outcome;
        };
        path.spin_until(at);
        path.time_call(function);
        let call = time_call(path, function);
        let start = CounterValue::new(at);
        self.finish_call(order, at, &call, Outcome { start, ..outcome })
    }

    /// Waits until shortly before the agreed instant; the CPU then spins for the rest of the wait.
    /// All CPUs start spinning at the same instant, regardless of how they waited before. The lead
    /// wakes up shortly before the others, so that an emulator that runs CPUs in turn starts each
    /// round with the same CPU.
    fn wait_for_start(&self, agree_on_start: &mut AwaitStart) -> Option<u64> {
        let start = agree_on_start()?;
        let waiter = &self.parts.waiter;
        let spin = start.saturating_sub(waiter.ticks_of_us(SPIN_US));
        if self.is_lead() {
            waiter.sleep_until(spin.saturating_sub(waiter.ticks_of_us(AHEAD_US)));
        }
        waiter.sleep_until(spin);
        Some(start)
    }

    fn is_lead(&self) -> bool {
        self.channel.index == self.parts.lead
    }

    /// Times either the suspend (CPU_SUSPEND, or SYSTEM_SUSPEND if the action has no `power_state`)
    /// or the first call after the wake-up. The stages are:
    ///
    /// 1. Before the CPU is ready: read PSCI_STAT.
    /// 2. Wait for start.
    /// 3. Arm the wake-up ([`Self::arm_wake_up`]), read the context that the suspend should keep,
    ///    and set the mark that it should not.
    /// 4. Spin until the call, and arm the racing timer, if there is one.
    /// 5. Make the timed calls. Nothing may come between them.
    /// 6. After the return: compare the context and the mark, and set up the CPU and GIC again
    ///    ([`Self::set_up_after_suspend`]).
    /// 7. [`Self::finish_suspend`]: wake the next CPU, wait for quiet end, then read the timestamps
    ///    and PSCI_STAT.
    fn suspend(
        &self,
        order: &Order,
        first_call: Option<&FirmwareFunction>,
        await_start: &mut AwaitStart,
    ) -> Outcome {
        let waiter = &self.parts.waiter;
        let power_state = order.action.power_state();
        let mut outcome = Outcome::new(order.action);
        let mut suspended = Suspended::default();
        let statistics = firmware::read_statistics(self.channel.mpidr(), &order.round.ladder);
        self.channel.handover.clear_sgi_sent();
        let Some(start) = await_start() else {
            return outcome;
        };
        let call_at = start + order.times.call;
        let due = start + order.times.due;
        outcome.start = CounterValue::new(call_at);
        suspended.due = CounterValue::new(due);
        if !self.arm_wake_up(order, start, due) {
            outcome.end = ActionEnd::Pending;
            return outcome;
        }
        let context = if order.round.checks_context {
            Some(self.read_context())
        } else {
            None
        };
        let marks_power =
            order.round.marks_power && order.action.sleep_is_powerdown() == Some(true);
        let mark = if marks_power { PowerMark::set() } else { None };
        waiter.path.spin_until(call_at);
        if let Some(expires_in) = order.race {
            let expires_at = waiter.now() + expires_in;
            waiter.timer.arm(expires_at);
            suspended.due = CounterValue::new(expires_at);
        }
        let entry = &self.channel.entry;
        let call = waiter.path.time_suspend(power_state, entry);
        // This call must come before any other firmware call on the wake-up path.
        let timed_first_call = first_call.map(|function| waiter.path.time_call(function));
        if let Some(context_before) = context {
            suspended.kept = Some(context_before.compare(&self.read_context(), call.return_path));
        }
        if let Some(mark) = mark {
            let is_kept = mark.is_kept();
            suspended.kept_power = (call.return_path == ReturnPath::Resumed).then_some(is_kept);
        }
        self.set_up_after_suspend(order, call.return_path);
        let calls = SuspendCalls {
            suspend: &call,
            measured: timed_first_call.as_ref().unwrap_or(&call),
            statistics_before: &statistics,
        };
        self.finish_suspend(order, start, &calls, suspended, outcome)
    }

    fn set_up_after_suspend(&self, order: &Order, return_path: ReturnPath) {
        self.disarm_timer_frame(order);
        let is_system_suspend = order.action.power_state().is_none();
        if is_system_suspend && return_path != ReturnPath::FellThrough {
            // The entire GIC may have lost power.
            let result = self.parts.waiter.gic.init_distributor();
            result.unwrap_or_else(|error| panic!("GIC: {error}"));
        }
        // This is necessary after either kind of return, because firmware disables the GIC CPU
        // interface during power-down, even if the call then returns because of a pending
        // interrupt.
        self.set_up_again();
    }

    fn read_context(&self) -> Context {
        Context::read(&self.parts.waiter, &self.channel.gic)
    }

    /// Arms the wake-up for a suspend. If an interrupt is pending, wakes the other CPUs instead,
    /// because they are waiting for this CPU, and returns false.
    #[inline(always)]
    fn arm_wake_up(&self, order: &Order, start: u64, due: u64) -> bool {
        let Waiter { timer, gic, .. } = &self.parts.waiter;
        // After the wait, a nap's interrupt may still be pending.
        let is_quiet = gic.drain_interrupts();
        timer.arm(start + order.times.fallback);
        let is_armed = match self.timer_frame(order) {
            Some(frame) => frame.arm(gic, &self.channel.gic, due),
            None => true,
        };
        if is_quiet && is_armed && !instructions::is_interrupt_pending() {
            return true;
        }
        timer.disarm();
        self.disarm_timer_frame(order);
        self.wake_others_when_due(order, start);
        false
    }

    /// Returns the timer frame if it wakes this CPU, which is possible only for the lead.
    fn timer_frame(&self, order: &Order) -> Option<&TimerFrameDriver> {
        if order.is_woken_by_frame {
            self.parts.timer_frame.as_ref().ok()
        } else {
            None
        }
    }

    fn disarm_timer_frame(&self, order: &Order) {
        if let Some(frame) = self.timer_frame(order) {
            frame.disarm(&self.parts.waiter.gic);
        }
    }

    fn finish_suspend(
        &self,
        order: &Order,
        start: u64,
        calls: &SuspendCalls<'_>,
        suspended: Suspended,
        outcome: Outcome,
    ) -> Outcome {
        self.wake_others_when_due(order, start);
        let sgi_sent_at = self.channel.handover.sgi_sent_at();
        let quiet_end = self.wait_for_quiet_end(order, start);
        let times = &order.times;
        let SuspendCalls {
            suspend,
            measured,
            statistics_before,
        } = calls;
        let fallback = CounterValue::new(start + times.fallback);
        let is_late = times.fallback > times.due && suspend.after >= fallback;
        let has_unexpected_sgi = order.expects_no_sgi() && sgi_sent_at.is_some();
        // A wrong context takes precedence, because then nothing else is certain. A fallback takes
        // precedence over the way in which the call returned.
        let end = if suspend.return_path == ReturnPath::WrongContext {
            ActionEnd::WrongContext
        } else if is_late || has_unexpected_sgi {
            ActionEnd::WokenByFallback
        } else if suspend.return_path == ReturnPath::Resumed {
            ActionEnd::Resumed
        } else {
            ActionEnd::Returned
        };
        // The return code of a rejected suspend takes precedence, because the CPU did not sleep.
        let was_rejected = suspend.code.is_some_and(|code| code < 0);
        let code = if was_rejected {
            suspend.code
        } else {
            measured.code
        };
        let outcome = self.add_timestamps(Outcome {
            end,
            code,
            before: measured.before,
            returned_at: measured.after,
            quiet_end: CounterValue::new(quiet_end),
            ..outcome
        });
        let after = firmware::read_statistics(self.channel.mpidr(), &order.round.ladder);
        self.parts.waiter.gic.drain_interrupts();
        Outcome {
            details: ActionDetails::Suspend(Suspended {
                due: sgi_sent_at.and_then(CounterValue::new).or(suspended.due),
                rise: Rise::between(statistics_before, &after),
                ..suspended
            }),
            ..outcome
        }
    }

    /// Sleeps until the end of the quiet time in the round that started at `start`, and returns
    /// that instant. Earlier activity on this CPU, especially firmware calls that read timestamps
    /// and statistics, would slow down CPUs that are still powering down or up.
    fn wait_for_quiet_end(&self, order: &Order, start: u64) -> u64 {
        let quiet_end = start + order.times.quiet_end;
        self.parts.waiter.sleep_until(quiet_end);
        quiet_end
    }

    /// Stays awake and wakes the other CPUs. Waits for the deadline in WFI, using its own timer and
    /// no firmware calls, and stays on until the lead reports that all other CPUs have returned. If
    /// the lead is the helper, it waits for these CPUs when it collects their outcomes.
    fn help_others(&self, order: &Order, await_start: &mut AwaitStart) -> Outcome {
        let waiter = &self.parts.waiter;
        let outcome = Outcome {
            end: ActionEnd::Returned,
            ..Outcome::new(Action::Help)
        };
        let Some(start) = await_start() else {
            return outcome;
        };
        waiter.sleep_until(start + order.times.due);
        self.wake_others(order.sgi_targets);
        if self.is_lead() {
            return outcome;
        }
        self.wait_for_quiet_end(order, start);
        let fallback = start + order.times.fallback;
        let mut is_late = false;
        self.wait_for_lead(|| {
            if !is_late && waiter.now() >= fallback {
                is_late = true;
                self.wake_again(true);
            }
            self.channel.handover.is_released().then_some(())
        });
        outcome
    }

    /// Takes interrupts of this CPU's timer, loads the memory system while others do, or makes random
    /// calls.
    fn observe(&self, order: &Order, await_start: &mut AwaitStart) -> Outcome {
        match &order.round.task {
            Task::Interrupt(interrupt) => self.observe_call(order, interrupt, await_start),
            Task::Expire(window) => self.observe_timer(window, await_start),
            Task::Stress(stress) => self.make_random_calls(order, stress, await_start),
            Task::Act(action) => Outcome::new(*action),
        }
    }

    fn make_random_calls(
        &self,
        order: &Order,
        stress: &Stress,
        await_start: &mut AwaitStart,
    ) -> Outcome {
        let Some(start) = await_start() else {
            return Outcome::new(Action::Stress);
        };
        let caller = Caller {
            channel: self.channel,
            channels: self.parts.channels,
            waiter: &self.parts.waiter,
            is_lead: self.is_lead(),
            stress,
            start,
            set_up_again: &|| self.set_up_again(),
        };
        caller.make_calls(start + order.round.spans.sleep)
    }

    /// Makes a call while this CPU takes its timer's interrupt.
    fn observe_call(
        &self,
        order: &Order,
        interrupt: &Interrupt,
        await_start: &mut AwaitStart,
    ) -> Outcome {
        let RoundParts {
            channels, waiter, ..
        } = self.parts;
        let mut start = 0;
        let outcome = interrupted::observe_call(channels, waiter, interrupt, &mut || {
            start = await_start()?;
            Some(start)
        });
        Outcome {
            quiet_end: CounterValue::new(start + order.times.quiet_end),
            ..outcome
        }
    }

    fn observe_timer(&self, window: &Window, await_start: &mut AwaitStart) -> Outcome {
        let waiter = &self.parts.waiter;
        let guard = self.parts.guard_timer;
        if window.load_of(self.channel.index) == Load::Suspend {
            self.suspend_repeatedly(window, await_start)
        } else {
            timer_load::observe_timer(self.channel, waiter, guard, window, await_start)
        }
    }

    fn suspend_repeatedly(&self, window: &Window, await_start: &mut AwaitStart) -> Outcome {
        let Some(start) = await_start() else {
            return Outcome::new(Action::Expire);
        };
        Outcome {
            start: CounterValue::new(start),
            ..suspend_load::suspend_until(
                self.channel,
                &self.parts.waiter,
                window.power_state,
                window.load_end(start),
                || self.set_up_again(),
            )
        }
    }

    /// Reads this CPU's timestamps, before its next PSCI call.
    fn add_timestamps(&self, mut outcome: Outcome) -> Outcome {
        if let Ok(pmf) = self.parts.pmf {
            outcome.stamps = firmware::read_timestamps(pmf, self.channel.mpidr());
        }
        outcome
    }

    /// Reports to the lead that this CPU stopped after an exception or panic. A helper also wakes
    /// the others, including the lead, because it may be the only CPU that is awake.
    fn report_fault(&self) {
        let handover = &self.channel.handover;
        // If sending the SGIs causes a second exception, they must not be sent again.
        let is_first = handover.stop().is_none();
        handover.report_stop(Stop::Exception);
        if is_first
            && let Some(order) = handover.order()
            && order.action == Action::Help
        {
            self.wake_again(true);
        }
    }
}

/// Stops this CPU, which is not the lead, after an exception or panic.
pub fn stop_after_fault() -> ! {
    if let Some(parts) = PARTS.get() {
        let own = registers::mpidr();
        for channel in parts.channels {
            if channel.mpidr() == own {
                Participant { channel, parts }.report_fault();
                break;
            }
        }
    }
    ending::park()
}
