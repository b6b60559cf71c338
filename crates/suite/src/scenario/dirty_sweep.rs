//! The `dirty_sweep` scenario: an increasing number of dirty bytes in the cache of a CPU that
//! powers down on its own.

use crate::measure::Action;
use crate::model::{Skip, Variant};

use super::bench::{BenchStep, Rounds};
use super::steps::Sweep;

/// Measures power-downs of single CPUs, with an increasing number of dirty bytes in the cache.
pub(crate) fn measure_steps(sweep: &mut Sweep<'_>) {
    let plan = sweep.bench.setting.plan;
    let Some(steps) = plan.dirty_steps(sweep.facts().outer_cache) else {
        return sweep.leave_out(Skip::NoCacheSize);
    };
    // The lead cannot power off, because no other CPU would turn it back on.
    let off = BenchStep::new(Rounds::Off, Action::Off);
    let no_cpu_off = sweep.facts().no_cpu_off;
    no_cpu_off.inspect(|why| sweep.leave_out(Skip::NoCpuOff(*why)));
    let has_off = sweep.bench.cells.len() > 1 && no_cpu_off.is_none();
    let off = has_off.then_some((Variant::Off, off));
    for (variant, step) in sweep.two_states(Rounds::Serial).chain(off) {
        for bytes in steps.as_slice() {
            let dirty = *bytes as usize;
            if !sweep.step(variant, Some(dirty as u64), BenchStep { dirty, ..step }) {
                break;
            }
        }
    }
}
