//! A CPU other than the lead. It is turned on by CPU_ON, executes its orders and powers off. The
//! reports are instants on the timeline in `suite::measure::round`.

use hardware::spec::counter_value::CounterValue;
use suite::measure::order::Order;
use suite::measure::{ActionDetails, AfterRound};
use sync::Stop;

use crate::machine::call::firmware;
use crate::machine::ending;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::participant::{PARTS, Participant};

/// Executes orders until the lead gives up on this CPU.
///
/// Called by `boot.S` with the MMU and caches on, on this CPU's own stack. `first` and `second` are
/// the counter values read by the first instructions.
pub extern "C" fn secondary_main(
    channel: &'static CpuChannel,
    first: u64,
    second: u64,
    has_right_context: bool,
) -> ! {
    let Some(parts) = PARTS.get() else {
        // Unreachable, because the lead publishes the round parts before the first CPU_ON.
        ending::park();
    };
    let own = Participant { channel, parts };
    if !has_right_context {
        channel.handover.report_stop(Stop::WrongContext);
        power_off_for_good(own);
    }
    own.set_up_again();
    let mut entered = parts.waiter.path.select_read([first, second]);
    while let Some(order) = own.wait_for_lead(|| channel.handover.order()) {
        execute_next_order(own, &order, entered.take());
    }
    power_off_for_good(own)
}

fn execute_next_order(own: Participant, order: &Order, entered: Option<CounterValue>) {
    let handover = &own.channel.handover;
    // ReadBack involves only one CPU, so there is no agreed start time.
    let mut outcome = own.execute_order(order, &mut || {
        handover.report_ready();
        own.wait_for_lead(|| handover.start())
    });
    handover.report_ready();
    if let ActionDetails::PowerCycle(cycle) = &mut outcome.details {
        cycle.entered = entered;
    }
    handover.finish(outcome);
    if let Some(start) = handover.start() {
        // Other CPUs may still be powering down or up.
        own.parts.waiter.sleep_until(start + order.times.quiet_end);
    }
    if order.waits_for_release {
        own.wait_for_lead(|| handover.is_released().then_some(()));
    }
    if order.action.turns_off() || order.round.afterwards == AfterRound::Off {
        power_off(own);
    }
}

fn power_off(own: Participant) {
    // If CPU_OFF returns, even with SUCCESS, it has not turned the CPU off.
    let code = firmware::code_of(firmware::cpu_off());
    own.channel.handover.report_cpu_off_failure(code);
}

/// Powers off this CPU, or parks it if the firmware refuses.
fn power_off_for_good(own: Participant) -> ! {
    if own.parts.no_cpu_off.is_none() {
        power_off(own);
    }
    ending::park()
}
