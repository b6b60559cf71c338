//! The `contend_sweep` scenario: an increasing number of CPUs power down together.

use crate::measure::Who;
use crate::model::Skip;
use crate::plan::{How, steps};

use super::bench::{BenchStep, Rounds};
use super::steps::Sweep;

/// Measures power-downs with an increasing number of CPUs going down together.
pub(crate) fn measure_steps(sweep: &mut Sweep<'_>) {
    let cpus = sweep.bench.cells.len();
    let steps = sweep.bench.setting.plan.contend;
    let steps = steps.unwrap_or_else(|| steps::contend(cpus));
    let steps = || steps.as_slice().iter().map(|count| *count as usize);
    // The maximum number of CPUs that can power down together, in the state that allows the fewest.
    let (mut most, mut any) = (cpus, false);
    for (variant, step) in sweep.two_states(Rounds::Parallel) {
        // A helper never powers down with the others.
        let awake = usize::from(sweep.needs_helper(&step));
        most = most.min(cpus - awake);
        for count in steps().filter(|count| count + awake <= cpus) {
            any = true;
            let who = Who::First(count + awake);
            if !sweep.step(variant, Some(count as u64), BenchStep { who, ..step }) {
                break;
            }
        }
    }
    if !any {
        return sweep.leave_out(Skip::TooFewCpus);
    }
    let first = sweep.suspend_metric();
    for count in steps().filter(|count| *count > most) {
        sweep.push_left_out(first, How::All, count as u64, Skip::TooFewCpus);
    }
}
