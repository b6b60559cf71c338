//! A run's jobs, in order.

use alloc::vec::Vec;

use super::ScenarioKey;
use crate::plan::{Method, Plan, ScenarioId};

/// A job in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Measures a scenario.
    Measure(ScenarioKey),
    /// Tries to wake a CPU from each state that will be measured.
    TryWakers,
}

/// Returns a plan's jobs in order. A wake-up trial may lose a CPU, so PSCI_VERSION, which does not
/// suspend any CPU, is measured before the trials. All other scenarios follow. In a board's first
/// run, the riskiest scenario is last, CPU_OFF, which does not suspend the lead, precedes the trials,
/// and PSCI_VERSION comes first, without a CPU_OFF.
pub fn jobs(plan: &Plan) -> Vec<Job> {
    let mut keys = scenarios(plan);
    let is_first_run = plan.scenarios.is_first();
    if is_first_run {
        keys.reverse();
    }
    for key in keys
        .iter_mut()
        .filter(|key| is_first_run && !key.id.is_suspend())
    {
        // The CPU stays on, so that the step contains no CPU_OFF.
        key.method = Method::Warm;
    }
    let suspends = |id: ScenarioId| id.is_suspend() && !(is_first_run && id.only_lead_suspends());
    let is_first = |key: &ScenarioKey| key.id.is_suite() && !suspends(key.id);
    let (first, rest): (Vec<_>, Vec<_>) = keys.into_iter().partition(is_first);
    let mut jobs: Vec<_> = first.into_iter().map(Job::Measure).collect();
    jobs.push(Job::TryWakers);
    jobs.extend(rest.into_iter().map(Job::Measure));
    jobs
}

/// Returns the scenarios in a plan, without helpers. The suite's scenarios come first, once for
/// each method, followed by the others.
pub fn scenarios(plan: &Plan) -> Vec<ScenarioKey> {
    let mut keys = Vec::new();
    let mut add = |id, method| {
        keys.push(ScenarioKey {
            id,
            method,
            helper: None,
        });
    };
    for method in plan.methods.iter() {
        for id in plan.scenarios.suite().iter() {
            add(id, method);
        }
    }
    for id in plan.scenarios.iter().filter(|id| !id.is_suite()) {
        // Outside the suite, only sweeps use `method=`, and they use only the first method. Other
        // scenarios leave CPUs on.
        let method = if id.follows_method() {
            plan.first_method()
        } else {
            Method::Warm
        };
        add(id, method);
    }
    keys
}
