//! The `system_suspend` scenario: SYSTEM_SUSPEND on the lead, with all other CPUs off.

use crate::bench::Setting;
use crate::bench::step_rounds::StepRounds;
use crate::bench::steps::{self, Steps};
use crate::measure::{Action, Participants};
use crate::model::Skip;
use crate::plan::{ActiveCpus, UsedStates, Variant};
use smccc::psci::PSCI_SYSTEM_SUSPEND_64;

use super::descriptor::Descriptor;

pub(super) const SYSTEM_SUSPEND: Descriptor = Descriptor {
    tag: "system_suspend",
    name: "SYSTEM_SUSPEND",
    // The system might never wake up, so this scenario runs only if requested by name.
    is_in_all: false,
    states: UsedStates::Both,
    variants: &[SYSTEM],
    cells: |_| 1,
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

const SYSTEM: Variant = Variant::new("system");

fn measure_steps(steps: &mut Steps<'_>) {
    // A lost CPU may still be on, in which case the firmware rejects the call.
    if let Some(failure) = steps.bench.first_lost() {
        return steps.fail(failure);
    }
    let Setting {
        states,
        wake_sources,
        ..
    } = steps.bench.setting();
    let facts = steps.facts();
    let timers_stop = match wake_sources.frame {
        _ if facts.gic.is_none() => return steps.leave_out(Skip::NoGic),
        _ if !facts.system_suspend => {
            return steps.leave_out(Skip::NotSupported(PSCI_SYSTEM_SUSPEND_64));
        }
        // A timer that stops in a CPU idle state is assumed to stop in system suspend as well.
        Err(why) if states.any_stops => return steps.leave_out(Skip::TimerStops(why)),
        frame => frame.is_ok(),
    };
    let step = StepRounds {
        timers_stop,
        participants: Participants::First(1),
        ..StepRounds::new(ActiveCpus::Alone, Action::SystemSuspend)
    };
    steps.run_step(SYSTEM, None, step);
}
