//! The `ipi_wake` scenario: how soon a CPU answers an SGI of another CPU from each idle state, beside
//! how soon its own timer wakes it. Schedulers wake idle CPUs with such interrupts.

use crate::bench::step_rounds::StepRounds;
use crate::bench::steps::{self, Steps};
use crate::measure::Metric;
use crate::model::Skip;
use crate::plan::{ActiveCpus, Axis, UsedStates, Variant};

use super::descriptor::Descriptor;

pub(super) const IPI_WAKE: Descriptor = Descriptor {
    tag: "ipi_wake",
    name: "Wake-ups by another CPU's SGI",
    axis: Some(Axis::PowerState),
    is_in_all: false,
    states: UsedStates::All,
    variants: &[TIMER, NEAR, FAR],
    cells: |size| 3 * size.cpus * size.idle_states,
    explanation: |_, _| EXPLANATION.into(),
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

const EXPLANATION: &str = "Wake is measured to the CPU's first instruction after the suspend: with sgi_near \
    and sgi_far, from the write of the SGI's register on the next CPU in the same cluster or the first \
    one in another cluster; with timer, from the timer's expiry. The CPU that sends the SGI is awake and \
    keeps its own cluster on. ";

const TIMER: Variant = Variant::new("timer");
const NEAR: Variant = Variant::new("sgi_near");
const FAR: Variant = Variant::new("sgi_far");

fn measure_steps(steps: &mut Steps<'_>) {
    if steps.facts().gic.is_none() {
        steps.leave_out(Skip::NoSgi);
        return;
    }
    steps.measure_each_state(Metric::Wake, |steps, state| {
        let value = Some(state.power_state.into());
        for (variant, woken_by) in [
            (TIMER, ActiveCpus::Alone),
            (NEAR, ActiveCpus::Near),
            (FAR, ActiveCpus::Far),
        ] {
            let step = StepRounds {
                woken_by,
                metric: Some(Metric::Wake),
                ..StepRounds::to_state(ActiveCpus::Alone, state)
            };
            // The timer cannot wake the CPU, so another wake source would be measured.
            if variant != TIMER || !state.timer_stops {
                steps.run_step(variant, value, step);
            }
        }
    });
}
