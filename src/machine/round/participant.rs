//! One CPU's part in a round: the same code on the lead and on the others.

use core::fmt;

use crate::machine::call::call_path::Return;
use crate::machine::cpu::instructions;
use crate::machine::cpu::registers;
use crate::machine::env::Env;
use crate::machine::gic::target::GicError;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::order::Order;
use crate::machine::round::sgi_waker;
use crate::machine::round::timer_load;
use psci_bench::measure::{Action, End, Identity, Outcome};
use psci_bench::spec::stat::Rise;

/// The last stretch before a start, in microseconds, which a CPU does not nap
/// through.
const SPIN_US: u64 = 100;
/// Before that the lead wakes, in microseconds.
const AHEAD_US: u64 = 30;

/// Why a CPU can not take part.
pub enum NotReady {
    /// Its part of the GIC could not be set up.
    Gic(GicError),
    /// Its timer's interrupt, of this ID, does not arrive.
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

/// Gets this CPU ready: quiet timer, GIC set up. On every entry.
pub fn set_up(env: &'static Env, slot: &'static CpuChannel) -> Result<(), NotReady> {
    env.timer.disarm();
    slot.identify(|| Identity {
        clock_mhz: env.measure_clock_mhz(),
        ..registers::read_identity()
    });
    let gic = env.gic.init_cpu(slot, &[env.timer.intid]);
    gic.map_err(NotReady::Gic)?;
    if env.gic.version() != 0 && !slot.timer_wakes() {
        if !env.timer_wakes() {
            return Err(NotReady::Timer(env.timer.intid));
        }
        slot.set_timer_wakes();
    }
    Ok(())
}

/// The same, on an entry after boot: what has gone well once goes well again,
/// and a CPU that nothing can wake is of no use.
pub fn set_up_again(env: &'static Env, slot: &'static CpuChannel) {
    if let Err(unfit) = set_up(env, slot) {
        panic!("{unfit}");
    }
}

/// Does what `order` says. `start` is called when this CPU is ready and gives
/// the agreed instant, or nothing when the round is off.
pub fn execute_order(
    env: &'static Env,
    slot: &'static CpuChannel,
    order: &Order,
    start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let outcome = Outcome {
        action: order.action,
        turned_on: order.turned_on,
        ..Outcome::default()
    };
    if order.action.goes_down() {
        env.make_dirty(order.dirty);
    }
    let start: &mut dyn FnMut() -> Option<u64> = &mut || {
        let start = start()?;
        // All begin to spin at one instant, however they waited before. The lead
        // wakes once more by itself ahead of them, so that an emulator that runs
        // CPUs in turn begins each round with the same one.
        let spin = start.saturating_sub(env.us(SPIN_US));
        if slot.index == env.lead {
            env.sleep_until(spin.saturating_sub(env.us(AHEAD_US)));
        }
        env.sleep_until(spin);
        Some(start)
    };
    match order.action {
        Action::None => outcome,
        Action::Suspend { power_state, .. } => suspend(env, slot, order, Some(power_state), start),
        Action::SystemSuspend => suspend(env, slot, order, None, start),
        Action::Help => sgi_waker::help_others(env, slot, order, start),
        Action::Expire => timer_load::observe_timer(env, slot, order, start),
        Action::Version => version(env, slot, start, outcome),
        Action::Repeat { operation, count } => {
            let Some(start) = start() else {
                return outcome;
            };
            let repeated = env.repeat(slot, operation, count, start);
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
        Action::Off | Action::OnOff => {
            // The lead leaves the CPU alone from that instant on; or looks for
            // OFF from before it on.
            let Some(start) = start() else {
                return outcome;
            };
            env.way.wait_until(start);
            let due = start + order.due;
            going_off(
                env,
                Outcome {
                    start,
                    due,
                    ..outcome
                },
            )
        }
        Action::ReadBack => {
            let outcome = Outcome {
                end: End::ReadBack,
                after: env.way.now(),
                ..outcome
            };
            read_stamps(env, slot, outcome)
        }
    }
}

/// What is handed over before CPU_OFF, which does not come back.
fn going_off(env: &Env, outcome: Outcome) -> Outcome {
    Outcome {
        end: End::WentOff,
        before: env.way.now(),
        ..outcome
    }
}

fn suspend(
    env: &'static Env,
    slot: &'static CpuChannel,
    order: &Order,
    power_state: Option<u32>,
    start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let mut outcome = Outcome {
        action: order.action,
        ..Outcome::default()
    };
    let statistics = env.firmware.statistics(slot.mpidr, &order.ladder);
    slot.clear_rung_at();
    let Some(start) = start() else {
        return outcome;
    };
    // After the wait: an interrupt of its naps may still be pending.
    let quiet = env.gic.drain();
    let call_at = start + order.delay;
    outcome.start = call_at;
    outcome.due = start + order.due;
    env.timer.arm(start + order.alarm);
    let armed = !order.frame || env.arm_frame(outcome.due);
    if !quiet || !armed || instructions::is_interrupt_pending() {
        env.timer.disarm();
        if order.frame {
            env.disarm_frame();
        }
        outcome.end = End::Pending;
        env.wake_others_when_due(slot, order, start);
        return outcome;
    }
    env.way.wait_until(call_at);
    let call = env.way.suspend(power_state, &slot.context);

    if order.frame {
        env.disarm_frame();
    }
    if power_state.is_none() && call.back != Return::Returned {
        // The GIC as a whole may have been without power.
        let gic = env.gic.init_distributor();
        gic.unwrap_or_else(|error| panic!("GIC: {error}"));
    }
    // By either way back: firmware closes the GIC's CPU interface on the way
    // down, also where the call then returns for a pending interrupt.
    set_up_again(env, slot);
    env.wake_others_when_due(slot, order, start);
    let rung_at = slot.rung_at();
    outcome.due = rung_at.unwrap_or(outcome.due);
    let is_late = order.alarm > order.due && call.after >= start + order.alarm;
    outcome.end = match call.back {
        Return::WrongContext => End::WrongContext,
        _ if is_late || order.frame && rung_at.is_some() => End::NotRung,
        Return::Resumed => End::Resumed,
        Return::Returned => End::Returned,
    };
    outcome.code = call.x0 as u32 as i32;
    outcome.before = call.before;
    outcome.after = call.after;
    let mut outcome = read_stamps(env, slot, outcome);
    let after = env.firmware.statistics(slot.mpidr, &order.ladder);
    outcome.rise = Rise::between(&statistics, &after);
    env.gic.drain();
    outcome
}

fn version(
    env: &'static Env,
    slot: &'static CpuChannel,
    start: &mut dyn FnMut() -> Option<u64>,
    outcome: Outcome,
) -> Outcome {
    let Some(start) = start() else {
        return outcome;
    };
    env.way.wait_until(start);
    let call = env.way.call(psci_bench::spec::psci::function::VERSION);
    let outcome = Outcome {
        end: End::Returned,
        code: call.x0 as u32 as i32,
        start,
        before: call.before,
        after: call.after,
        ..outcome
    };
    read_stamps(env, slot, outcome)
}

/// Reads this CPU's timestamps, ahead of its next PSCI call.
fn read_stamps(env: &Env, slot: &CpuChannel, mut outcome: Outcome) -> Outcome {
    if let Ok(pmf) = env.pmf {
        match env.firmware.timestamps(pmf, slot.mpidr) {
            Ok(stamps) => outcome.stamps = stamps,
            Err(error) => outcome.stamps_error = Some(error),
        }
    }
    outcome
}
