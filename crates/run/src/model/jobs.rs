//! The jobs of a run, in order.

use super::ScenarioKey;
use crate::plan::{Method, Plan, Procedure};

/// A job of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Measures a scenario.
    Measure(ScenarioKey),
    /// Tries to wake a CPU from each state that is to be measured.
    TryWakers,
}

/// Returns a plan's jobs in order. A wake-up trial may lose a CPU, so PSCI_VERSION, which does not
/// suspend any CPU, is measured before the trials. Everything else comes after them.
pub fn jobs(plan: &Plan) -> impl Iterator<Item = Job> + use<> {
    let is_first = |key: &ScenarioKey| key.id.procedure() == Procedure::Version;
    let first = scenarios(plan).filter(is_first).map(Job::Measure);
    let rest = scenarios(plan).filter(move |key| !is_first(key));
    first.chain([Job::TryWakers]).chain(rest.map(Job::Measure))
}

/// Returns the scenarios of a plan, without helpers: the suite with each method, then the others.
pub fn scenarios(plan: &Plan) -> impl Iterator<Item = ScenarioKey> + use<> {
    let (scenarios, methods) = (plan.scenarios, plan.methods);
    let key = |id, method| ScenarioKey {
        id,
        method,
        helper: None,
    };
    let suite = methods.iter().flat_map(move |method| {
        let ids = scenarios.suite().iter();
        ids.map(move |id| key(id, method))
    });
    let others = scenarios.iter().filter(|id| !id.is_suite());
    suite.chain(others.map(move |id| {
        // Only a sweep uses `method=`, and only its first value. Other scenarios leave CPUs on.
        let method = match id.is_sweep() {
            true => methods.first(),
            false => Method::Warm,
        };
        key(id, method)
    }))
}
