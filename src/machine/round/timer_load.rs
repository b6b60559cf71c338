//! A CPU's part in a look at timers: it does a load, and where its own timer
//! is looked at, takes that one's interrupts meanwhile (`timer_load.S`).

use core::arch::global_asm;
use core::ffi::c_void;

use crate::machine::call::call_path::CallPath;
use crate::machine::cpu::registers;
use crate::machine::env::Env;
use crate::machine::memory::stress;
use crate::machine::memory::stress::Function;
use crate::machine::memory::tables::PAGE;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::order::Order;
use psci_bench::measure::{End, Outcome, Tally};
use psci_bench::plan::Load;

/// Bytes of a chunk of load: between two of them a CPU looks at the time. A
/// page, which holds lines and DC ZVA's blocks of any size.
const CHUNK: u64 = PAGE;

global_asm!(
    include_str!("timer_load.S"),
    CHUNK = const CHUNK,
    handle = sym handle,
);

unsafe extern "C" {
    fn stress_loop(watch: *mut c_void, work: &Work, until: u64, virtual_: u64, chunk: u64);
}

/// A timer that does not expire is not waited for longer, in microseconds,
/// than this beyond its last expiry. Where the CPU waits in WFI, the guard ends
/// that.
const SILENT_US: u64 = 1_000_000;

/// What `timer_load.S` does by turns, and where.
#[repr(C)]
struct Work {
    functions: [Function; 4],
    base: u64,
    end: u64,
    line: u64,
    block: u64,
}

/// What the handler needs.
struct Watch {
    env: &'static Env,
    tally: &'static mut Tally,
}

/// The timer's handler: the rest of it is in `timer_load.S`. Whether that was the
/// last of its interrupts.
extern "C" fn handle(watch: &mut Watch, first: u64, second: u64) -> bool {
    let Watch { env, tally } = watch;
    let now = env.way.now();
    // Where an erratum spoiled both reads, the handler's own stands in, which is
    // later by the instructions between: the figure is too large by those.
    let entry = match env.way.choose([first, second]) {
        0 => now,
        entry => entry,
    };
    let Some(claim) = env.gic.claim() else {
        return tally.spurious().is_none();
    };
    let intid = env.gic.intid(&claim);
    let next = if intid == env.timer.intid {
        tally.expired(entry, now)
    } else {
        // The guard's is no stray one, and the end of it all the same.
        tally.stray = Some(intid).filter(|_| env.guard.is_none_or(|guard| guard.intid != intid));
        None
    };
    match next {
        Some(instant) => env.timer.arm(instant),
        None => env.timer.disarm(),
    }
    env.gic.complete(claim);
    next.is_none()
}

/// Does a CPU's part in `order`'s window, from the instant that `start` gives.
pub fn observe_timer(
    env: &'static Env,
    slot: &'static CpuChannel,
    order: &Order,
    start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let outcome = Outcome {
        action: order.action,
        ..Outcome::default()
    };
    let Some(window) = &order.window else {
        return outcome;
    };
    let load = window.load_of(slot.index);
    let work = work(slot, load);
    let guard = env.guard.filter(|_| window.measures(slot.index));
    if let Some(guard) = guard {
        guard.disarm();
        listen(env, slot, &[env.timer.intid, guard.intid]);
    }
    let Some(start) = start() else {
        return outcome;
    };
    let schedule = &window.schedule;
    let end = start + schedule.period * u64::from(schedule.expiries);
    if !window.measures(slot.index) {
        // Until the last expiry has been handled, in all likelihood.
        load_until(env, slot, load, &work, end + schedule.period / 2);
        return Outcome {
            end: End::Returned,
            start,
            ..outcome
        };
    }
    // The last nap's interrupt may not have been taken back yet.
    if !env.gic.drain() {
        return Outcome {
            end: End::Pending,
            start,
            ..outcome
        };
    }
    // SAFETY: the order is this CPU's, and so is the tally until it is done;
    // nothing else here borrows it.
    let Some(tally) = (unsafe { slot.tally() }) else {
        return outcome;
    };
    let first = tally.begin(start, schedule);
    let mut watch = Watch { env, tally };
    env.timer.arm(first);
    let silent = end + env.us(SILENT_US);
    if let Some(guard) = guard {
        guard.arm_within(silent.saturating_sub(env.way.now()));
    }
    // SAFETY: as in load_until(); and the handler, which alone is called
    // while the loop lasts, is given the watch, which nobody else has.
    unsafe {
        stress_loop(
            (&raw mut watch).cast(),
            &work,
            silent,
            flag(env),
            slot.index as u64,
        )
    };
    env.timer.disarm();
    if let Some(guard) = guard {
        guard.disarm();
        listen(env, slot, &[env.timer.intid]);
    }
    env.gic.drain();
    Outcome {
        end: End::Returned,
        start,
        after: env.way.now(),
        ..outcome
    }
}

/// Lets this CPU have the interrupts of these timers.
fn listen(env: &Env, slot: &CpuChannel, timers: &[u32]) {
    if let Err(error) = env.gic.init_cpu(slot, timers) {
        panic!("{error}");
    }
}

/// Does a load with interrupts masked.
fn load_until(env: &Env, slot: &CpuChannel, load: Load, work: &Work, until: u64) {
    if load == Load::Idle {
        return env.sleep_until(until);
    }
    let none = core::ptr::null_mut();
    // SAFETY: the loop writes to whole chunks from `base` up to `end` alone,
    // which are this CPU's buffer, or calls a function that writes nothing; it
    // keeps the callee-saved registers. Without a watch no interrupt is taken.
    unsafe { stress_loop(none, work, until, flag(env), slot.index as u64) };
}

/// Which counter the loop reads.
fn flag(env: &Env) -> u64 {
    u64::from(env.way == CallPath::Hvc)
}

/// What a load is made of.
fn work(slot: &CpuChannel, load: Load) -> Work {
    let region = slot.buffer.region();
    let block = registers::dc_zva_bytes();
    // Where there is nothing to write to, nobody asked for it.
    let load = if region.size < CHUNK {
        Load::Idle
    } else {
        load
    };
    Work {
        functions: stress::functions_of_load(load, block.is_some()),
        base: region.base,
        end: region.base + region.size,
        line: registers::data_line_bytes(),
        block: block.unwrap_or(CHUNK),
    }
}
