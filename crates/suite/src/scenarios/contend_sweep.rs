//! The `contend_sweep` scenario: an increasing number of CPUs power down together.

use crate::bench::bench::StepRounds;
use crate::bench::steps::{self, DEEPEST_AND_CORE, Sweep};
use crate::measure::Who;
use crate::model::Skip;
use crate::plan::{ActiveCpus, Axis, Key, sweep_values};

use crate::plan::UsedStates;

use super::descriptor::Descriptor;

pub(super) const CONTEND_SWEEP: Descriptor = Descriptor {
    tag: "contend_sweep",
    name: "CPU_SUSPEND by CPUs that go down together",
    axis: Some(Axis::Cpus),
    states: UsedStates::Both,
    variants: &DEEPEST_AND_CORE,
    arguments: &[
        Key::Iterations,
        Key::Warmup,
        Key::Method,
        Key::Wake,
        Key::CpuOnAfter,
        Key::Contend,
    ],
    // Two states, and one cell for each omitted step.
    cells: |size| {
        let steps = size.plan.contend;
        let steps = steps.unwrap_or_else(|| sweep_values::contend(size.cpus));
        let counts = steps.as_slice().iter().map(|step| *step as usize);
        let parts: usize = counts.filter(|count| *count <= size.cpus).sum();
        2 * parts + steps.as_slice().len()
    },
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

/// Measures power-downs with an increasing number of CPUs going down together.
fn measure_steps(sweep: &mut Sweep<'_>) {
    let cpus = sweep.bench.cells.len();
    let steps = sweep.bench.setting.plan.contend;
    let steps = steps.unwrap_or_else(|| sweep_values::contend(cpus));
    let steps = || steps.as_slice().iter().map(|count| *count as usize);
    // The maximum number of CPUs that can power down together, in the state that allows the fewest.
    let (mut most, mut any) = (cpus, false);
    for (variant, step) in sweep.two_states(ActiveCpus::All) {
        // A helper never powers down with the others.
        let awake = usize::from(sweep.needs_helper(&step));
        most = most.min(cpus - awake);
        for count in steps().filter(|count| count + awake <= cpus) {
            any = true;
            let who = Who::First(count + awake);
            if !sweep.step(variant, Some(count as u64), StepRounds { who, ..step }) {
                break;
            }
        }
    }
    if !any {
        return sweep.leave_out(Skip::TooFewCpus);
    }
    let first = sweep.suspend_metric();
    for count in steps().filter(|count| *count > most) {
        sweep.push_left_out(first, ActiveCpus::All, count as u64, Skip::TooFewCpus);
    }
}
