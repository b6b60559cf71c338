//! What a run does, in order.

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

/// Returns the jobs of a plan. Each trial may cost a CPU, so PSCI_VERSION, which suspends
/// none, is measured before them. All else follows.
pub fn jobs(plan: &Plan) -> impl Iterator<Item = Job> + use<> {
    let is_first = |key: &ScenarioKey| key.id.procedure() == Procedure::Version;
    let first = scenarios(plan).filter(is_first).map(Job::Measure);
    let rest = scenarios(plan).filter(move |key| !is_first(key));
    first.chain([Job::TryWakers]).chain(rest.map(Job::Measure))
}

/// Returns the scenarios of a plan, without helpers: the suite by each method, then
/// the others.
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
        // In sweeps alone CPUs are turned on again for each sample.
        let method = match id.is_sweep() {
            true => methods.first(),
            false => Method::Warm,
        };
        key(id, method)
    }))
}
