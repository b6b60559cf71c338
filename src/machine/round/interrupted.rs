//! A CPU's part in a round in which its timer expires during a call to the firmware.

use smccc::psci::{AffinityState, PSCI_CPU_ON_64};
use suite::measure::order::Order;
use suite::measure::{Action, ActionEnd, Interrupt, InterruptedCall, Outcome};

use crate::machine::boot::layout;
use crate::machine::call::firmware;
use crate::machine::call::interrupted_call::take_interrupt;
use crate::machine::round::channel::CpuChannel;
use crate::machine::time::waiter::Waiter;

/// How long to wait until a CPU that was turned on is off again, in microseconds.
const OFF_US: u64 = 5_000_000;

/// Makes the call in `interrupt` at the instant returned by `await_start`, and takes the interrupt.
pub fn observe_call(
    channels: &'static [CpuChannel],
    waiter: &'static Waiter,
    interrupt: &Interrupt,
    await_start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let Some(start) = await_start() else {
        return Outcome::new(Action::Interrupt);
    };
    if !waiter.gic.drain_interrupts() {
        return Outcome {
            end: ActionEnd::Pending,
            ..Outcome::new(Action::Interrupt)
        };
    }
    let function = match interrupt.call {
        InterruptedCall::Function {
            id,
            arguments: [x1, x2, x3],
        } => [id.into(), x1, x2, x3],
        InterruptedCall::CpuOn { target, .. } => {
            let channel = &channels[target.index()];
            // The lead does not use this CPU in the round, so its order is given here. It powers
            // off again.
            channel.give_first_order(Order::default());
            [
                PSCI_CPU_ON_64.into(),
                channel.mpidr().number(),
                layout::secondary_entry_address(),
                channel.context_id(waiter.path),
            ]
        }
    };
    waiter.path.spin_until(start);
    let outcome = take_interrupt(waiter, function, interrupt.expires_in);
    waiter.timer.disarm();
    waiter.gic.drain_interrupts();
    match interrupt.call {
        InterruptedCall::CpuOn {
            target,
            cpu_on_after,
        } if !wait_until_target_is_off(waiter, &channels[target.index()], cpu_on_after) => {
            Outcome {
                end: ActionEnd::GaveUp,
                ..outcome
            }
        }
        _ => outcome,
    }
}

/// Waits until the firmware reports that a CPU is off, and for `cpu_on_after` ticks after that.
/// Returns false if it stays on.
///
/// The lead's `wait_until_off` cannot be used: any participant may wait here, so there is no phase
/// to begin, and a CPU that stays on costs a sample instead of being lost.
fn wait_until_target_is_off(waiter: &Waiter, channel: &CpuChannel, cpu_on_after: u64) -> bool {
    let deadline = waiter.now() + waiter.ticks_of_us(OFF_US);
    let is_off = || match firmware::affinity_info(channel.mpidr()) {
        Ok(AffinityState::Off) => Some(()),
        Ok(_) | Err(_) => None,
    };
    let seen = waiter.poll(deadline, is_off).is_some();
    waiter.sleep_until(waiter.now() + cpu_on_after);
    seen
}
