//! A CPU that reads the counter in a loop until the end of a window, with interrupts masked.

use hardware::spec::counter_value::CounterValue;
use suite::measure::{Action, ActionEnd, GapFinder, Outcome, Window};

use crate::machine::round::channel::CpuChannel;
use crate::machine::time::waiter::Waiter;

/// How long the other CPUs have to begin their load, in microseconds. An emulator may run them in
/// turn with this one until then.
const SETTLE_US: u64 = 100;

/// Reads the counter in a loop, starting shortly after the instant returned by `await_start`.
pub fn watch_counter(
    channel: &'static CpuChannel,
    waiter: &'static Waiter,
    window: &Window,
    await_start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let outcome = Outcome::new(Action::Expire);
    let Some(start) = await_start() else {
        return outcome;
    };
    // SAFETY: the order belongs to this CPU, as does the tally until the order is done; nothing
    // else here borrows the tally.
    let Some(tally) = (unsafe { channel.handover.tally_mut() }) else {
        return outcome;
    };
    tally.begin(start, &window.schedule);
    let path = waiter.path;
    path.spin_until(start + waiter.ticks_of_us(SETTLE_US));
    let mut finder = GapFinder::new(|| path.now());
    finder.read_until(window.end(start), || path.now(), |gap| tally.add_gap(gap));
    tally.finish_reading(finder.shortest);
    Outcome {
        end: ActionEnd::Returned,
        start: CounterValue::new(start),
        returned_at: CounterValue::new(waiter.now()),
        ..outcome
    }
}
