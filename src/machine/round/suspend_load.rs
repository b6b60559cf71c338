//! Suspends a CPU again and again while another CPU is measured.

use hardware::spec::counter_value::CounterValue;
use suite::measure::{Action, ActionEnd, Outcome};

use crate::machine::round::channel::CpuChannel;
use crate::machine::time::waiter::Waiter;

/// The time from a CPU_SUSPEND to its wake-up in microseconds, counted from just before the call.
const SLEEP_US: u64 = 100;

/// Suspends this CPU to `power_state` until the instant `until`, or until the firmware returns an
/// error. Calls `set_up_again` after each suspend. This CPU's own timer wakes it.
pub fn suspend_until(
    channel: &CpuChannel,
    waiter: &Waiter,
    power_state: u32,
    until: u64,
    set_up_again: impl Fn(),
) -> Outcome {
    let entry = &channel.entry;
    let mut refusal = None;
    while waiter.now() < until && refusal.is_none() {
        waiter.gic.drain_interrupts();
        waiter
            .timer
            .arm(waiter.now() + waiter.ticks_of_us(SLEEP_US));
        let call = waiter.path.time_suspend(Some(power_state), entry);
        set_up_again();
        refusal = call.code.filter(|code| *code < 0);
    }
    waiter.timer.disarm();
    waiter.gic.drain_interrupts();
    Outcome {
        end: match refusal {
            Some(_) => ActionEnd::GaveUp,
            None => ActionEnd::Returned,
        },
        code: refusal,
        returned_at: CounterValue::new(waiter.now()),
        ..Outcome::new(Action::Expire)
    }
}
