//! The `idle_states` scenario: every idle state in the device tree, on each CPU in turn, on all
//! CPUs at once, and in OS-initiated mode.

use crate::bench::step_rounds::StepRounds;
use crate::bench::steps::{self, Steps};
use crate::model::{Failure, Skip};
use crate::plan::{ActiveCpus, Axis, UsedStates, Variant};
use smccc::psci::{PSCI_SET_SUSPEND_MODE, SuspendMode};

use super::descriptor::Descriptor;

pub(super) const IDLE_STATES: Descriptor = Descriptor {
    tag: "idle_states",
    name: "Every idle state in the device tree",
    axis: Some(Axis::PowerState),
    states: UsedStates::All,
    variants: &[SERIAL, Variant::PARALLEL, Variant::OS_INITIATED],
    cells: |size| 3 * size.cpus * size.idle_states,
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

/// One CPU after another.
const SERIAL: Variant = Variant::new("serial");

fn measure_steps(steps: &mut Steps<'_>) {
    steps.measure_each_state(steps.suspend_metric(), |steps, state| {
        let value = Some(state.power_state.into());
        for (variant, cpus) in [
            (SERIAL, ActiveCpus::Alone),
            (Variant::PARALLEL, ActiveCpus::All),
        ] {
            steps.run_step(variant, value, StepRounds::to_state(cpus, state));
        }
    });
    if let Err(why) = measure_os_initiated(steps) {
        steps.leave_out_mode(why);
    }
}

/// Measures the states above the CPU level in OS-initiated mode, and then leaves that mode.
fn measure_os_initiated(steps: &mut Steps<'_>) -> Result<(), Skip> {
    if !steps.facts().os_initiated {
        return Err(Skip::NotSupported(PSCI_SET_SUSPEND_MODE));
    }
    let entered = steps.bench.set_suspend_mode(SuspendMode::OsInitiated);
    entered.map_err(Skip::ModeRefused)?;
    for state in &steps.bench.setting().states.accepted {
        let core_state = state.ladder.due(Some(0));
        let is_above_core = core_state.is_some_and(|core| core != state.power_state);
        if state.powerdown && is_above_core && steps.usable(Some(*state)).is_some() {
            let step = StepRounds {
                osi: true,
                ..StepRounds::to_state(ActiveCpus::All, *state)
            };
            steps.run_step(Variant::OS_INITIATED, Some(state.power_state.into()), step);
        }
    }
    // If the firmware stayed in OS-initiated mode, later scenarios would run in the wrong mode.
    let mode = SuspendMode::PlatformCoordinated;
    if let Err(error) = steps.bench.set_suspend_mode(mode) {
        steps.fail(Failure::ModeStuck(error));
    }
    Ok(())
}
