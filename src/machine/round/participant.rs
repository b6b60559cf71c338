//! Executes one CPU's order in a round: the same code on the lead and on the others.

use core::fmt;
use core::sync::atomic::Ordering;

use psci_bench::board::NoFrame;
use psci_bench::measure::order::Order;
use psci_bench::measure::{Action, Cause, End, Identity, Operation, Outcome};
use psci_bench::spec::stat::{Rise, Statistics};
use smccc::psci::PSCI_VERSION;
use spin::Once;

use crate::machine::call::call_path::{Return, TimedCall};
use crate::machine::call::firmware::Firmware;
use crate::machine::call::operation_loop::{LoopResult, OperationLoop};
use crate::machine::cpu::{cycle_counter, instructions, registers};
use crate::machine::ending;
use crate::machine::gic::target::GicError;
use crate::machine::memory::dirty_lines::DirtyLines;
use crate::machine::round::channel::{self, CpuChannel};
use crate::machine::round::lead_watch::LeadWatch;
use crate::machine::round::sgi_waker::SgiWaker;
use crate::machine::round::timer_load;
use crate::machine::time::timer::Timer;
use crate::machine::time::waiter::Waiter;
use crate::machine::timer_frame::TimerFrameDriver;

/// The last stretch before a start, in microseconds, which a CPU does not nap
/// through.
const SPIN_US: u64 = 100;
/// The time, in microseconds, by which the lead wakes before that.
const AHEAD_US: u64 = 30;

/// The parts of the machine that all CPUs use in a round.
pub struct RoundParts {
    /// Counter, timer and interrupt controller.
    pub waiter: Waiter,
    pub firmware: Firmware,
    /// A timer that ends a wait for the waiter's timer, if there is one.
    pub guard_timer: Option<Timer>,
    /// The timer frame that wakes the lead, or the reason why none does.
    pub timer_frame: Result<TimerFrameDriver, NoFrame>,
    /// The lines that are made dirty before a power-down.
    pub dirty_lines: DirtyLines,
    pub watch: LeadWatch,
    pub waker: SgiWaker,
    /// True for a guest of KVM, which makes CCSIDR_EL1 up.
    pub is_kvm_guest: bool,
}

static PARTS: Once<RoundParts> = Once::new();

/// Publishes the parts, before the first other CPU is turned on.
pub fn publish(parts: RoundParts) -> &'static RoundParts {
    PARTS.call_once(|| parts)
}

/// Returns the parts, once they are published.
pub(super) fn parts() -> Option<&'static RoundParts> {
    PARTS.get()
}

/// The reason why a CPU cannot participate.
pub enum NotReady {
    /// The CPU's part of the GIC cannot be set up.
    Gic(GicError),
    /// The timer's interrupt, of this ID, does not arrive.
    Timer(u32),
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gic(error) => write!(f, "{error}"),
            Self::Timer(intid) => write!(f, "the timer's interrupt {intid} does not arrive"),
        }
    }
}

/// Waits, when the CPU is ready, for the agreed instant and returns it; None when the
/// round is off.
type Start<'s> = dyn FnMut() -> Option<u64> + 's;

/// One CPU in a round.
#[derive(Clone, Copy)]
pub struct Participant {
    pub channel: &'static CpuChannel,
    pub parts: &'static RoundParts,
}

impl Participant {
    /// Sets up timer and GIC of this CPU, on each entry.
    /// Fails where the CPU cannot participate.
    pub fn set_up(&self) -> Result<(), NotReady> {
        let Waiter {
            timebase,
            timer,
            gic,
        } = &self.parts.waiter;
        timer.disarm();
        self.channel.identity.call_once(|| Identity {
            clock_mhz: cycle_counter::measure_clock_mhz(timebase),
            ..registers::read_identity(self.parts.is_kvm_guest)
        });
        gic.init_cpu(&self.channel.gic, &[timer.intid])
            .map_err(NotReady::Gic)?;
        let is_proven = &self.channel.timer_is_proven;
        if gic.version() != 0 && !is_proven.load(Ordering::Relaxed) {
            if !self.parts.waiter.proves_timer() {
                return Err(NotReady::Timer(timer.intid));
            }
            is_proven.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Sets up this CPU on an entry after boot. A failure ends the run: a set-up that
    /// succeeded once succeeds again, and no interrupt could wake the CPU.
    pub fn set_up_again(&self) {
        if let Err(reason) = self.set_up() {
            panic!("{reason}");
        }
    }

    /// Executes `order`. `start` is called when this CPU is ready.
    pub fn execute_order(&self, order: &Order, start: &mut Start) -> Outcome {
        let outcome = Outcome {
            action: order.action,
            turned_on: order.cpu_on_at,
            ..Outcome::default()
        };
        if order.action.goes_down() {
            self.parts.dirty_lines.dirty(order.dirty_bytes);
        }
        let start = &mut || self.wait_for_start(start);
        match order.action {
            Action::None => outcome,
            Action::Suspend { power_state, .. } => self.suspend(order, Some(power_state), start),
            Action::SystemSuspend => self.suspend(order, None, start),
            Action::Help => self.help_others(order, start),
            Action::Expire => self.observe_timer(order, start),
            Action::Version => self.time_version(outcome, start),
            Action::Repeat { operation, count } => {
                self.repeat_operation(operation, count, outcome, start)
            }
            Action::Off | Action::OnOff => self.begin_power_off(order, outcome, start),
            Action::ReadBack => self.add_timestamps(Outcome {
                end: End::ReadBack,
                after: self.parts.waiter.timebase.now(),
                ..outcome
            }),
        }
    }

    /// Waits for the agreed instant, up to the last stretch. All CPUs begin to spin at
    /// one instant, whichever way they waited before. The lead wakes once more by
    /// itself before them, so that an emulator that runs CPUs in turn begins each round
    /// with the same one.
    fn wait_for_start(&self, start: &mut Start) -> Option<u64> {
        let start = start()?;
        let Waiter { timebase, .. } = &self.parts.waiter;
        let spin = start.saturating_sub(timebase.ticks_of_us(SPIN_US));
        if self.is_lead() {
            let ahead = spin.saturating_sub(timebase.ticks_of_us(AHEAD_US));
            self.parts.waiter.sleep_until(ahead);
        }
        self.parts.waiter.sleep_until(spin);
        Some(start)
    }

    fn is_lead(&self) -> bool {
        self.channel.index == self.parts.waker.lead
    }

    /// Times CPU_SUSPEND, or without a `power_state` SYSTEM_SUSPEND.
    fn suspend(&self, order: &Order, power_state: Option<u32>, start: &mut Start) -> Outcome {
        let (waiter, firmware) = (&self.parts.waiter, self.parts.firmware);
        let mut outcome = Outcome {
            action: order.action,
            ..Outcome::default()
        };
        let statistics = firmware.read_statistics(self.channel.mpidr(), &order.ladder);
        self.channel.handover.clear_sgi_sent();
        let Some(start) = start() else {
            return outcome;
        };
        let call_at = start + order.times.call_after;
        outcome.start = call_at;
        outcome.due = start + order.times.wake_due_after;
        if !self.arm_wake_up(order, start, outcome.due) {
            outcome.end = End::Pending;
            return outcome;
        }
        waiter.timebase.spin_until(call_at);
        let context = &self.channel.entry.suspend_context;
        let call = waiter.timebase.path.time_suspend(power_state, context);

        if order.wake.by_timer_frame {
            self.disarm_timer_frame();
        }
        if power_state.is_none() && call.back != Return::FellThrough {
            // The GIC as a whole may have been without power.
            let gic = waiter.gic.init_distributor();
            gic.unwrap_or_else(|error| panic!("GIC: {error}"));
        }
        // After either return: firmware closes the GIC's CPU interface on the way down,
        // also where the call then returns for a pending interrupt.
        self.set_up_again();
        self.finish_suspend(order, start, &call, &statistics, outcome)
    }

    /// Arms the wake-up of a suspend, unless an interrupt is pending: then wakes the
    /// others, which wait for this CPU, and returns false.
    #[inline(always)]
    fn arm_wake_up(&self, order: &Order, start: u64, due: u64) -> bool {
        let Waiter { timer, gic, .. } = &self.parts.waiter;
        // After the wait: an interrupt of its naps may still be pending.
        let is_quiet = gic.drain();
        timer.arm(start + order.times.own_timer_after);
        let is_armed = !order.wake.by_timer_frame || self.arm_timer_frame(due);
        if is_quiet && is_armed && !instructions::is_interrupt_pending() {
            return true;
        }
        timer.disarm();
        if order.wake.by_timer_frame {
            self.disarm_timer_frame();
        }
        self.wake_others_when_due(order, start);
        false
    }

    /// Wakes the others after a suspend, and completes the outcome.
    fn finish_suspend(
        &self,
        order: &Order,
        start: u64,
        call: &TimedCall,
        statistics: &Statistics,
        outcome: Outcome,
    ) -> Outcome {
        self.wake_others_when_due(order, start);
        let sgi_sent_at = self.channel.handover.sgi_sent_at();
        let times = &order.times;
        let is_late = times.own_timer_after > times.wake_due_after
            && call.after >= start + times.own_timer_after;
        let outcome = self.add_timestamps(Outcome {
            due: sgi_sent_at.unwrap_or(outcome.due),
            end: match call.back {
                Return::WrongContext => End::WrongContext,
                _ if is_late || order.wake.by_timer_frame && sgi_sent_at.is_some() => End::NotRung,
                Return::Resumed => End::Resumed,
                Return::FellThrough => End::Returned,
            },
            code: call.x0 as u32 as i32,
            before: call.before,
            after: call.after,
            ..outcome
        });
        let mpidr = self.channel.mpidr();
        let after = self.parts.firmware.read_statistics(mpidr, &order.ladder);
        self.parts.waiter.gic.drain();
        Outcome {
            rise: Rise::between(statistics, &after),
            ..outcome
        }
    }

    fn wake_others_when_due(&self, order: &Order, start: u64) {
        let RoundParts { waiter, waker, .. } = self.parts;
        waker.wake_others_when_due(waiter, self.channel.index, order, start);
    }

    /// Lets the timer frame wake the lead, which this is. Returns false where there is
    /// no frame, or where its interrupt cannot be enabled.
    fn arm_timer_frame(&self, at: u64) -> bool {
        let (frame, gic) = (self.parts.timer_frame.as_ref(), &self.parts.waiter.gic);
        frame.is_ok_and(|frame| frame.arm(gic, &self.channel.gic, at))
    }

    fn disarm_timer_frame(&self) {
        if let Ok(frame) = &self.parts.timer_frame {
            frame.disarm(&self.parts.waiter.gic);
        }
    }

    /// Stays awake and wakes the others: waits for the deadline in WFI on the own
    /// timer, without a call of the firmware, and stays on until the lead reports that
    /// all of them have returned. The lead as helper sees to that itself.
    fn help_others(&self, order: &Order, start: &mut Start) -> Outcome {
        let (waiter, waker) = (&self.parts.waiter, &self.parts.waker);
        let (index, handover) = (self.channel.index, &self.channel.handover);
        let outcome = Outcome {
            action: Action::Help,
            end: End::Returned,
            ..Outcome::default()
        };
        let Some(start) = start() else {
            return outcome;
        };
        waiter.sleep_until(start + order.times.wake_due_after);
        waker.wake_others(waiter, index, order.wake.wakes_others_by_sgi);
        if self.is_lead() {
            return outcome;
        }
        waiter.sleep_until(start + order.times.quiet_until);
        let again = start + order.times.own_timer_after;
        let mut is_late = false;
        self.parts.watch.wait_for_lead(waiter, handover, || {
            if !is_late && waiter.timebase.now() >= again {
                is_late = true;
                waker.wake_again(waiter, index, true);
            }
            handover.is_released().then_some(())
        });
        outcome
    }

    fn observe_timer(&self, order: &Order, start: &mut Start) -> Outcome {
        let (waiter, guard) = (&self.parts.waiter, self.parts.guard_timer);
        let outcome = match &order.window {
            Some(window) => timer_load::observe_timer(self.channel, waiter, guard, window, start),
            None => Outcome::default(),
        };
        Outcome {
            action: order.action,
            ..outcome
        }
    }

    fn time_version(&self, outcome: Outcome, start: &mut Start) -> Outcome {
        let Some(start) = start() else {
            return outcome;
        };
        let timebase = &self.parts.waiter.timebase;
        timebase.spin_until(start);
        let call = timebase.path.time_call(PSCI_VERSION);
        self.add_timestamps(Outcome {
            end: End::Returned,
            code: call.x0 as u32 as i32,
            start,
            before: call.before,
            after: call.after,
            ..outcome
        })
    }

    fn repeat_operation(
        &self,
        operation: Operation,
        count: u32,
        outcome: Outcome,
        start: &mut Start,
    ) -> Outcome {
        let Some(start) = start() else {
            return outcome;
        };
        let (waiter, pmf) = (&self.parts.waiter, self.parts.firmware.pmf);
        let path = waiter.timebase.path;
        let own = &self.channel.gic;
        let repeated = match OperationLoop::new(operation, path, &waiter.gic, own, pmf) {
            Some(operation_loop) => operation_loop.run(count, start, waiter),
            None => LoopResult::impossible(waiter.timebase.now()),
        };
        Outcome {
            end: End::Returned,
            code: repeated.code,
            start,
            before: repeated.before,
            after: repeated.after,
            cycles: repeated.cycles,
            ..outcome
        }
    }

    /// Waits for the instant of a CPU_OFF, which does not return, and completes the
    /// outcome before it. The lead does not look at the CPU from that instant on; or
    /// polls AFFINITY_INFO from before it on.
    fn begin_power_off(&self, order: &Order, outcome: Outcome, start: &mut Start) -> Outcome {
        let Some(start) = start() else {
            return outcome;
        };
        let timebase = &self.parts.waiter.timebase;
        timebase.spin_until(start);
        Outcome {
            end: End::WentOff,
            start,
            due: start + order.times.wake_due_after,
            before: timebase.now(),
            ..outcome
        }
    }

    /// Reads this CPU's timestamps, before its next PSCI call.
    fn add_timestamps(&self, mut outcome: Outcome) -> Outcome {
        let firmware = self.parts.firmware;
        if let Ok(pmf) = firmware.pmf {
            match firmware.read_timestamps(pmf, self.channel.mpidr()) {
                Ok(stamps) => outcome.stamps = stamps,
                Err(error) => outcome.stamps_error = Some(error),
            }
        }
        outcome
    }
}

/// Stops this CPU, which is not the lead, after an exception or a panic. The CPUs that
/// it should wake, the lead among them, may have no other that does.
pub fn stop_after_fault() -> ! {
    if let (Some(parts), Some(channel)) = (parts(), channel::own()) {
        let handover = &channel.handover;
        // A second exception, in the SGIs, must not lead here again.
        let is_first = handover.fault().is_none();
        handover.report_fault(Cause::Exception);
        let helps = handover.order().is_some_and(|it| it.action == Action::Help);
        if is_first && helps {
            parts.waker.wake_again(&parts.waiter, channel.index, true);
        }
    }
    ending::park()
}
