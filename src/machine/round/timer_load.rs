//! A CPU's part in a timer measurement: it runs a load and, if its own timer is measured, takes
//! that timer's interrupts at the same time (`timer_load.S`).

use core::arch::global_asm;
use core::ffi::c_void;

use hardware::board::IntId;
use hardware::spec::counter_value::CounterValue;
use suite::measure::{Action, ActionEnd, Outcome, Tally, Watched, Window};
use suite::plan::Load;

use crate::machine::call::call_path::CallPath;
use crate::machine::call::interrupted_call::TakenInterrupt;
use crate::machine::cpu::registers;
use crate::machine::gic::controller::GicDriver;
use crate::machine::memory::stress::{self, Function};
use crate::machine::memory::tables::PAGE;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::counter_watch;
use crate::machine::time::timer::CpuTimer;
use crate::machine::time::waiter::Waiter;

/// The size in bytes of one chunk of the load. A CPU reads the counter after each chunk. The page
/// size is a multiple of every line size and DC ZVA block size.
const CHUNK: u64 = PAGE;

global_asm!(
    include_str!("timer_load.S"),
    CHUNK = const CHUNK,
);

unsafe extern "C" {
    fn stress_loop(handler: *mut c_void, work: &LoadLoop, until: u64, virtual_: u64, chunk: u64);
}

/// How long to wait for a missing interrupt after the last expiry, in microseconds. If the CPU
/// waits in WFI, the guard timer ends the wait.
const SILENT_US: u64 = 1_000_000;

/// The functions that `timer_load.S` calls in turn, and the memory they use.
#[repr(C)]
struct LoadLoop {
    functions: [Function; 4],
    base: u64,
    end: u64,
    line: u64,
    block: u64,
}

/// The handler for timer interrupts, with the data that it uses.
#[repr(C)]
struct TimerHandler {
    handle: TakenInterrupt<Self>,
    path: CallPath,
    timer: CpuTimer,
    guard: Option<CpuTimer>,
    gic: &'static GicDriver,
    tally: &'static mut Tally,
}

/// Handles the timer interrupt; the rest of the handler is in `timer_load.S`. Returns true for
/// the last interrupt.
extern "C" fn handle_timer(handler: &mut TimerHandler, first: u64, second: u64) -> bool {
    let timer = handler.timer;
    let tally = &mut *handler.tally;
    let now = handler.path.now();
    // If an erratum corrupted both reads, the handler's later read is used instead. The measured
    // latency then includes the instructions in between.
    let entry = handler
        .path
        .select_read([first, second])
        .map_or(now, CounterValue::number);
    let Some(acknowledged) = handler.gic.acknowledge() else {
        return tally.spurious().is_none();
    };
    let intid = acknowledged.intid;
    let next = if intid == timer.intid {
        tally.expired(entry, now)
    } else {
        // An interrupt from the guard timer is expected, but also ends the window.
        let is_guard = handler.guard.is_some_and(|guard| guard.intid == intid);
        tally.stray = if is_guard { None } else { Some(intid) };
        None
    };
    match next {
        Some(instant) => timer.arm(instant),
        None => timer.disarm(),
    }
    handler.gic.end(acknowledged);
    next.is_none()
}

/// Executes a CPU's part in `window`, starting at the instant returned by `await_start`.
pub fn observe_timer(
    channel: &'static CpuChannel,
    waiter: &'static Waiter,
    guard: Option<CpuTimer>,
    window: &Window,
    await_start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    if !window.measures(channel.index) {
        return make_load(channel, waiter, window, await_start);
    }
    if window.watched == Watched::Counter {
        return counter_watch::watch_counter(channel, waiter, window, await_start);
    }
    if let Some(guard) = guard {
        guard.disarm();
        enable_timers(waiter, channel, &[waiter.timer.intid, guard.intid]);
    }
    let outcome = measure_timer(channel, waiter, guard, window, await_start);
    if guard.is_some() {
        enable_timers(waiter, channel, &[waiter.timer.intid]);
    }
    waiter.gic.drain_interrupts();
    outcome
}

/// Executes the load until [`Window::load_end`].
fn make_load(
    channel: &'static CpuChannel,
    waiter: &'static Waiter,
    window: &Window,
    await_start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let load = window.load_of(channel.index);
    let work = load_loop(waiter, channel, load);
    let Some(start) = await_start() else {
        return Outcome::new(Action::Expire);
    };
    load_until(waiter, channel, load, &work, window.load_end(start));
    Outcome {
        end: ActionEnd::Returned,
        start: CounterValue::new(start),
        ..Outcome::new(Action::Expire)
    }
}

/// Measures this CPU's timer, from its first expiry to its last.
fn measure_timer(
    channel: &'static CpuChannel,
    waiter: &'static Waiter,
    guard: Option<CpuTimer>,
    window: &Window,
    await_start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let work = load_loop(waiter, channel, window.load_of(channel.index));
    let Some(start) = await_start() else {
        return Outcome::new(Action::Expire);
    };
    let outcome = Outcome {
        end: ActionEnd::Returned,
        start: CounterValue::new(start),
        ..Outcome::new(Action::Expire)
    };
    // The last nap's interrupt may still be pending.
    if !waiter.gic.drain_interrupts() {
        return Outcome {
            end: ActionEnd::Pending,
            ..outcome
        };
    }
    // SAFETY: the order belongs to this CPU, as does the tally until the order is done; nothing
    // else here borrows the tally.
    let Some(tally) = (unsafe { channel.handover.tally_mut() }) else {
        return Outcome::new(Action::Expire);
    };
    let first_expiry = tally.begin(start, &window.schedule);
    let give_up_at = window.end(start) + waiter.ticks_of_us(SILENT_US);
    let handler = TimerHandler {
        handle: handle_timer,
        path: waiter.path,
        timer: waiter.timer,
        guard,
        gic: &waiter.gic,
        tally,
    };
    take_interrupts(handler, waiter, channel, &work, first_expiry, give_up_at);
    Outcome {
        returned_at: CounterValue::new(waiter.now()),
        ..outcome
    }
}

/// Executes the load and takes the timer interrupts, from the first expiry to the last, or until
/// it gives up on the timer.
fn take_interrupts(
    mut handler: TimerHandler,
    waiter: &Waiter,
    channel: &CpuChannel,
    work: &LoadLoop,
    first_expiry: u64,
    give_up_at: u64,
) {
    let timer = waiter.timer;
    let guard = handler.guard;
    timer.arm(first_expiry);
    if let Some(guard) = guard {
        guard.arm_after_ticks(give_up_at.saturating_sub(waiter.now()));
    }
    // SAFETY: as in load_until(). In addition, only the handler is called while the loop runs, and
    // no other code uses the handler's state.
    unsafe {
        stress_loop(
            (&raw mut handler).cast(),
            work,
            give_up_at,
            waiter.path.context_flag(),
            u32::from(channel.index).into(),
        );
    }
    timer.disarm();
    if let Some(guard) = guard {
        guard.disarm();
    }
}

fn enable_timers(waiter: &Waiter, channel: &CpuChannel, timers: &[IntId]) {
    if let Err(error) = waiter.gic.init_cpu(&channel.gic, timers) {
        panic!("{error}");
    }
}

fn load_until(waiter: &Waiter, channel: &CpuChannel, load: Load, work: &LoadLoop, until: u64) {
    if load == Load::Idle {
        return waiter.sleep_until(until);
    }
    let none = core::ptr::null_mut();
    let flag = waiter.path.context_flag();
    // SAFETY: the loop writes only to whole chunks between `base` and `end`, which are in this
    // CPU's buffer, or calls a function that does not write; it preserves the callee-saved
    // registers. Without a handler, interrupts are not taken.
    unsafe { stress_loop(none, work, until, flag, u32::from(channel.index).into()) };
}

fn load_loop(waiter: &Waiter, channel: &CpuChannel, load: Load) -> LoadLoop {
    let region = channel.stress_buffer.region();
    let block = registers::dc_zva_bytes();
    assert!(
        !load.needs_buffer() || region.size >= CHUNK,
        "a CPU with this load needs a buffer"
    );
    LoadLoop {
        functions: stress::functions_of_load(load, block.is_some(), waiter.path.conduit()),
        base: region.base,
        end: region.base + region.size,
        line: registers::data_line_bytes(),
        block: block.unwrap_or(CHUNK),
    }
}
