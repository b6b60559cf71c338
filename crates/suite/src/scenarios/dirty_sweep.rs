//! The `dirty_sweep` scenario: an increasing number of dirty bytes in the cache of a CPU that
//! powers down on its own.

use crate::bench::step_rounds::StepRounds;
use crate::bench::steps::{self, CORE, DEEPEST, Steps};
use crate::measure::Action;
use crate::model::Skip;
use crate::plan::{ActiveCpus, Axis, Key, UsedStates, Variant, sweep_values};

use super::descriptor::{Descriptor, ROUNDS};

pub(super) const DIRTY_SWEEP: Descriptor = Descriptor {
    tag: "dirty_sweep",
    name: "CPU_SUSPEND and CPU_OFF by dirty bytes in the cache",
    axis: Some(Axis::Bytes),
    states: UsedStates::Both,
    variants: &[DEEPEST, CORE, OFF],
    arguments: &[ROUNDS, &[Key::Dirty]],
    cells: |size| {
        let values = size.plan.dirty.map(|values| values.as_slice().len());
        3 * size.cpus * values.unwrap_or(sweep_values::DIRTY_VALUES)
    },
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

/// CPU_OFF instead of a suspend.
const OFF: Variant = Variant::new("off");

/// Measures power-downs of single CPUs, with an increasing number of dirty bytes in the cache.
fn measure_steps(steps: &mut Steps<'_>) {
    let plan = steps.bench.plan();
    let Some(values) = plan.dirty_values(steps.facts().outer_cache) else {
        return steps.leave_out(Skip::NoCacheSize);
    };
    let no_cpu_off = steps.facts().no_cpu_off;
    if let Some(why) = no_cpu_off {
        steps.leave_out(Skip::NoCpuOff(why));
    }
    // The lead cannot power off, because no other CPU would turn it back on.
    let has_off = steps.bench.cpu_count() > 1 && no_cpu_off.is_none();
    let off = has_off.then(|| (OFF, StepRounds::off(Action::Off)));
    for (variant, step) in steps.deepest_and_core_steps(ActiveCpus::Alone).chain(off) {
        for bytes in values.as_slice() {
            let dirty = *bytes as usize;
            if !steps.run_step(variant, Some(dirty as u64), StepRounds { dirty, ..step }) {
                break;
            }
        }
    }
}
