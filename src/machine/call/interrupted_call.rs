//! A call to the firmware during which this CPU's timer expires, in assembly
//! (`interrupted_call.S`).

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

use hardware::spec::counter_value::CounterValue;
use suite::measure::{Action, ActionDetails, ActionEnd, InterruptTimes, Outcome};

use crate::machine::call::call_path::CallPath;
use crate::machine::gic::controller::GicDriver;
use crate::machine::time::timer::CpuTimer;
use crate::machine::time::waiter::Waiter;

unsafe extern "C" {
    fn interrupted_call(handler: *mut c_void, raw: &RawInterruptedCall, call: Call, virtual_: u64);
    // Only interrupted_call branches to these.
    fn interrupted_smc();
    fn interrupted_smc_twice();
    fn interrupted_hvc();
}

type Call = unsafe extern "C" fn();

/// How long to wait for the interrupt after it is due, in microseconds.
const PATIENCE_US: u64 = 1_000_000;
/// The time after which the timer expires again if the interrupt was taken before the call, in
/// microseconds. A standby call would otherwise never return.
const AGAIN_US: u64 = 1_000;

/// A function that `timer_interrupt` (`timer_load.S`) calls for an interrupt. Its first argument is
/// a structure whose first field is the function; the others are the counter, read twice by the
/// vector. It returns true to leave the interrupted code.
pub type TakenInterrupt<H> = extern "C" fn(handler: &mut H, first: u64, second: u64) -> bool;

/// The data shared by `interrupted_call.S`, the handler and Rust. The assembly code writes all
/// fields but the first, the last and `taken`.
#[repr(C)]
#[derive(Default)]
struct RawInterruptedCall {
    function: [u64; 4],
    before: [AtomicU64; 2],
    after: [AtomicU64; 2],
    /// Not 0 once the handler has run.
    taken: AtomicU64,
    /// Not 0 once the call has returned.
    returned: AtomicU64,
    deadline: u64,
}

fn load([first, second]: &[AtomicU64; 2]) -> [u64; 2] {
    [
        first.load(Ordering::Relaxed),
        second.load(Ordering::Relaxed),
    ]
}

/// The handler for interrupts during the call, with the data that it uses.
#[repr(C)]
struct CallHandler<'r> {
    handle: TakenInterrupt<CallHandler<'r>>,
    raw: &'r RawInterruptedCall,
    timer: CpuTimer,
    gic: &'static GicDriver,
    /// The counter, read twice, at the first interrupt.
    entered: Option<[u64; 2]>,
    /// Ticks until the timer expires again.
    again: u64,
}

/// Handles an interrupt. The interrupted code always continues, because the call must return.
extern "C" fn handle_interrupt(handler: &mut CallHandler<'_>, first: u64, second: u64) -> bool {
    handler.entered.get_or_insert([first, second]);
    let raw = handler.raw;
    match raw.returned.load(Ordering::Relaxed) {
        0 => handler.timer.arm(first + handler.again),
        _ => handler.timer.disarm(),
    }
    handler.gic.acknowledge_and_end();
    raw.taken.store(1, Ordering::Relaxed);
    false
}

/// Makes the call. The interrupt falls due `expires_in` ticks after this function first reads the
/// counter, so the same instructions always lie between that instant and the call.
#[inline(never)]
pub fn take_interrupt(waiter: &'static Waiter, function: [u64; 4], expires_in: u64) -> Outcome {
    let path = waiter.path;
    let timer = waiter.timer;
    let call: Call = match path {
        CallPath::Smc => interrupted_smc,
        CallPath::SmcTwice(_) => interrupted_smc_twice,
        CallPath::Hvc => interrupted_hvc,
    };
    let patience = waiter.ticks_of_us(PATIENCE_US);
    let now = path.now();
    let due = now + expires_in;
    let raw = RawInterruptedCall {
        function,
        deadline: due + patience,
        ..RawInterruptedCall::default()
    };
    let mut handler = CallHandler {
        handle: handle_interrupt,
        raw: &raw,
        timer,
        gic: &waiter.gic,
        entered: None,
        again: waiter.ticks_of_us(AGAIN_US),
    };
    timer.arm(due);
    // SAFETY: the code writes only to atomic fields of RawInterruptedCall and to its own frame, and
    // preserves the callee-saved registers; the functions change nothing in the payload's memory,
    // and a CPU that is turned on has an order. Only the handler runs meanwhile, on this stack, and
    // nothing else uses its state.
    unsafe {
        interrupted_call((&raw mut handler).cast(), &raw, call, path.context_flag());
    }
    let (end, entered) = match handler.entered {
        Some(reads) => (ActionEnd::Returned, path.select_read(reads)),
        None => (ActionEnd::WokenByFallback, None),
    };
    let before = path.select_read(load(&raw.before));
    let after = path.select_read(load(&raw.after));
    // If the interrupt was taken as soon as the call had returned, the handler has run before the
    // counter was read.
    let returned_at = if entered > before && entered < after {
        entered
    } else {
        after
    };
    Outcome {
        end,
        start: CounterValue::new(now),
        before,
        returned_at,
        details: ActionDetails::Interrupt(InterruptTimes {
            due: CounterValue::new(due),
            entered,
        }),
        ..Outcome::new(Action::Interrupt)
    }
}
