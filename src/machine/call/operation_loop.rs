//! Loops that repeat one operation, in assembly (`operation_loop.S`).

use core::sync::atomic::Ordering;

use hardware::board::GicVersion;
use hardware::image::Conduit;
use hardware::spec::counter_value::CounterValue;
use hardware::spec::pmf::{Interface, ReadError, Stamp};
use smccc::error::SUCCESS;
use suite::measure::{ActionDetails, ActionEnd, Operation, Outcome};

use crate::machine::call::call_path::CallPath;
use crate::machine::console;
use crate::machine::cpu::cycle_counter::{self, CycleCounter};
use crate::machine::gic::controller::GicDriver;
use crate::machine::gic::its::ItsDriver;
use crate::machine::gic::target::GicCpu;
use crate::machine::time::waiter::Waiter;

/// The longest time allowed for a batch of interrupts, in microseconds. This limit is shorter than
/// the lead's wait for the batch.
const PATIENCE_US: u64 = 5_000_000;

/// The maximum number of polls in one batch that find no pending interrupt.
const POLLS: u64 = 1 << 24;

/// A loop's arguments, and the results that `operation_loop.S` stores.
#[repr(C)]
#[derive(Default)]
struct RawLoop {
    count: u64,
    body: u64,
    arguments: [u64; 4],
    before: [u64; 2],
    after: [u64; 2],
    cycles: [u64; 2],
    x0: u64,
    left: u64,
}

impl RawLoop {
    /// Returns how a loop of `operation` ended, and the return code of its last call. A timestamp
    /// loop counts as abandoned if its last timestamp could not be read.
    fn end_of(&self, operation: Operation) -> (ActionEnd, Option<i32>) {
        let last = self.x0 as u32 as i32;
        match operation {
            _ if self.left != 0 => (ActionEnd::GaveUp, None),
            Operation::Call(_) | Operation::CallWith(..) => (ActionEnd::Returned, Some(last)),
            Operation::ReadStamp if last != SUCCESS => (ActionEnd::GaveUp, None),
            _ => (ActionEnd::Returned, None),
        }
    }
}

unsafe extern "C" {
    fn repeat_smc(raw: &mut RawLoop);
    fn repeat_smc_cycles(raw: &mut RawLoop);
    fn repeat_smc_twice(raw: &mut RawLoop);
    fn repeat_smc_twice_cycles(raw: &mut RawLoop);
    fn repeat_hvc(raw: &mut RawLoop);
    fn repeat_hvc_cycles(raw: &mut RawLoop);
    // Not callable from Rust, because a loop does not follow any calling convention.
    fn loop_empty();
    fn loop_smc();
    fn loop_hvc();
    fn loop_smc_arguments();
    fn loop_hvc_arguments();
    fn loop_sysreg();
    fn loop_load();
    fn loop_load_byte();
    fn loop_eoi_v2();
    fn loop_eoi_v3();
    fn loop_lpi();
    fn loop_sgi_v2();
    fn loop_sgi_v3();
    fn loop_reply_v2();
    fn loop_reply_v3();
}

/// The ID that GICs return if no interrupt is pending. Completing it has no effect.
const SPURIOUS: u64 = 1023;
/// The offset of GICC_EOIR from GICC_IAR.
const EOIR: u64 = 4;
/// The offset of GICD_IIDR.
const GICD_IIDR: u64 = 8;

/// What the loops of a CPU need.
pub struct LoopParts<'p> {
    pub waiter: &'p Waiter,
    pub own: &'p GicCpu,
    /// The other CPU of a pair.
    pub other: Option<&'p GicCpu>,
    /// True for the second CPU of a pair.
    pub replies: bool,
    pub pmf: Result<Interface, ReadError>,
    /// The ITS. Only the lead uses it.
    pub its: Option<&'p ItsDriver>,
}

type Body = unsafe extern "C" fn();

/// Returns the loop for an operation and its arguments, or None if this CPU does not support it.
fn find_loop(operation: Operation, parts: &LoopParts<'_>) -> Option<(Body, [u64; 4])> {
    let LoopParts { waiter, own, .. } = *parts;
    let is_v2 = waiter.gic.version() == Some(GicVersion::V2);
    let by_conduit = |smc: Body, hvc: Body| match waiter.path.conduit() {
        Conduit::Smc => smc,
        Conduit::Hvc => hvc,
    };
    Some(match operation {
        Operation::Nothing => (loop_empty, [0; 4]),
        Operation::Call(function) => {
            let body = by_conduit(loop_smc, loop_hvc);
            (body, [function.into(), 0, 0, 0])
        }
        Operation::CallWith(function, argument) => {
            let body = by_conduit(loop_smc_arguments, loop_hvc_arguments);
            (body, [function.into(), argument.into(), 0, 0])
        }
        Operation::SelfSgi | Operation::RoundTrip => {
            let body: Body = match (is_v2, parts.replies) {
                (true, false) => loop_sgi_v2,
                (true, true) => loop_reply_v2,
                (false, false) => loop_sgi_v3,
                (false, true) => loop_reply_v3,
            };
            let [value, sgir, iar] = waiter.gic.loop_sgi(own, parts.other)?;
            (body, [value, sgir, iar, POLLS])
        }
        Operation::Eoi => match &waiter.gic {
            GicDriver::Absent => return None,
            GicDriver::V2(gic) => (loop_eoi_v2, [SPURIOUS, gic.iar() + EOIR, 0, 0]),
            GicDriver::V3(_) => (loop_eoi_v3, [SPURIOUS, 0, 0, 0]),
        },
        Operation::Lpi => {
            let [writer, written, intid] = parts.its?.loop_lpi()?;
            (loop_lpi, [writer, written, intid, POLLS])
        }
        Operation::DistributorRead => {
            let base = waiter.gic.distributor_base()?;
            (loop_load, [base + GICD_IIDR, 0, 0, 0])
        }
        Operation::UartRead => {
            let status = console::status_register()?;
            let body: Body = match status.width {
                4 => loop_load,
                1 => loop_load_byte,
                _ => return None,
            };
            (body, [status.address, 0, 0, 0])
        }
        Operation::SysregRead if cycle_counter::has_pmu_v3() => (loop_sysreg, [0; 4]),
        Operation::SysregRead => return None,
        Operation::ReadStamp => {
            let function = parts.pmf.ok()?.get_timestamp();
            let stamp = Stamp::EnterPsci.tid();
            (
                loop_smc_arguments,
                [function.into(), stamp.into(), own.mpidr.number(), 0],
            )
        }
    })
}

/// Returns the code that times a loop on this call path, with or without the cycle counter.
fn find_region(path: CallPath, counts_cycles: bool) -> unsafe extern "C" fn(&mut RawLoop) {
    match (path, counts_cycles) {
        (CallPath::Smc, false) => repeat_smc,
        (CallPath::Smc, true) => repeat_smc_cycles,
        (CallPath::SmcTwice(_), false) => repeat_smc_twice,
        (CallPath::SmcTwice(_), true) => repeat_smc_twice_cycles,
        (CallPath::Hvc, false) => repeat_hvc,
        (CallPath::Hvc, true) => repeat_hvc_cycles,
    }
}

/// Repeats an operation `count` times, starting at `start`.
pub fn repeat_operation(
    operation: Operation,
    count: u32,
    start: u64,
    parts: &LoopParts<'_>,
    outcome: Outcome,
) -> Outcome {
    let waiter = parts.waiter;
    let path = waiter.path;
    let timer = waiter.timer;
    let Some((body, arguments)) = find_loop(operation, parts) else {
        let now = CounterValue::new(waiter.now());
        return Outcome {
            end: ActionEnd::GaveUp,
            before: now,
            returned_at: now,
            ..outcome
        };
    };
    let mut raw = RawLoop {
        count: u64::from(count.max(1)),
        body: body as usize as u64,
        arguments,
        ..RawLoop::default()
    };
    let cycle_counter = CycleCounter::start();
    let region = find_region(path, cycle_counter.is_some());
    let waits = operation.awaits_interrupt();
    if waits {
        // The timer ends the wait if an interrupt does not arrive.
        timer.arm(start + waiter.ticks_of_us(PATIENCE_US));
    }
    path.spin_until(start);
    match parts.other {
        Some(_) if parts.replies => parts.own.awaits_sgi.store(true, Ordering::Release),
        // The end of a nap completes every pending interrupt, and the other CPU may oversleep.
        Some(other) => {
            let limit = start + waiter.ticks_of_us(PATIENCE_US);
            let awaits_sgi = || other.awaits_sgi.swap(false, Ordering::AcqRel).then_some(());
            waiter.poll_every(0, limit, awaits_sgi);
        }
        None => {}
    }
    // SAFETY: operation_loop.S writes only to RawLoop and its own frame, and preserves the
    // callee-saved registers. find_loop() chose a loop from operation_loop.S, with the arguments it
    // needs, for an operation that this CPU supports; the loop that reads PMCCNTR_EL0 runs only on
    // CPUs that have this register.
    unsafe { region(&mut raw) };
    if waits {
        timer.disarm();
        waiter.gic.drain_interrupts();
    }
    if let Some(cycle_counter) = &cycle_counter {
        cycle_counter.stop();
    }
    let cycles = raw.cycles[1].wrapping_sub(raw.cycles[0]);
    let (end, code) = raw.end_of(operation);
    Outcome {
        end,
        code,
        before: path.select_read(raw.before),
        returned_at: path.select_read(raw.after),
        details: ActionDetails::Loop {
            cycles: cycle_counter.map(|_| cycles),
        },
        ..outcome
    }
}
