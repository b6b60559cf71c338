//! The `contend_sweep` scenario: an increasing number of CPUs power down together.

use crate::bench::step_rounds::StepRounds;
use crate::bench::steps::{self, DEEPEST_AND_CORE, Steps};
use crate::measure::Participants;
use crate::model::Skip;
use crate::plan::sweep_values::{self, SweepValues};
use crate::plan::{ActiveCpus, Axis, Key, Plan, UsedStates};

use super::descriptor::{Descriptor, ROUNDS};

pub(super) const CONTEND_SWEEP: Descriptor = Descriptor {
    tag: "contend_sweep",
    name: "CPU_SUSPEND by CPUs that go down together",
    axis: Some(Axis::Cpus),
    states: UsedStates::Both,
    variants: &DEEPEST_AND_CORE,
    arguments: &[ROUNDS, &[Key::Contend]],
    // Two states, and one cell for each omitted step.
    cells: |size| {
        let values = values(size.plan, size.cpus);
        let measured: usize = counts(&values).filter(|count| *count <= size.cpus).sum();
        2 * measured + values.as_slice().len()
    },
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

/// Returns the values of the sweep.
fn values(plan: &Plan, cpus: usize) -> SweepValues {
    plan.contend
        .unwrap_or_else(|| sweep_values::default_contend_values(cpus))
}

/// Returns the number of CPUs in each step.
fn counts(values: &SweepValues) -> impl Iterator<Item = usize> {
    values.as_slice().iter().map(|count| *count as usize)
}

/// Measures power-downs with an increasing number of CPUs going down together.
fn measure_steps(steps: &mut Steps<'_>) {
    let cpus = steps.bench.cpu_count();
    let values = values(steps.bench.plan(), cpus);
    // The maximum number of CPUs that can power down together, in the state that allows the fewest.
    let mut most = cpus;
    let mut has_step = false;
    for (variant, step) in steps.deepest_and_core_steps(ActiveCpus::All) {
        // A helper never powers down with the others.
        let awake = usize::from(steps.needs_helper(&step));
        most = most.min(cpus - awake);
        for count in counts(&values).filter(|count| count + awake <= cpus) {
            has_step = true;
            let participants = Participants::First(count + awake);
            if !steps.run_step(
                variant,
                Some(count as u64),
                StepRounds {
                    participants,
                    ..step
                },
            ) {
                break;
            }
        }
    }
    if !has_step {
        return steps.leave_out(Skip::TooFewCpus);
    }
    let first = steps.suspend_metric();
    for count in counts(&values).filter(|count| *count > most) {
        steps.push_left_out(first, ActiveCpus::All, count as u64, Skip::TooFewCpus);
    }
}
