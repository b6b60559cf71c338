//! The scenarios of a plan in their order, and the measurement of one.

use alloc::vec::Vec;
use core::fmt;

use super::bench::Setting;
use super::progress::Progress;
use super::{micro, suite, sweep, timer_latency};
use crate::measure::Machine;
use crate::model::{Scenario, ScenarioKey};
use crate::plan::{Family, Method, Plan};

/// Returns the scenarios of a plan, without helpers: the suite by each method, then
/// the others.
pub fn jobs(plan: &Plan) -> impl Iterator<Item = ScenarioKey> + use<> {
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

/// Measures one scenario, once for each placement of its helper.
pub fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    progress: &mut dyn Progress,
) -> Result<Vec<Scenario>, fmt::Error> {
    let scenario = match key.id.family() {
        Family::Suite => return Ok(suite::measure(machine, setting, key)),
        Family::Sweep => sweep::measure(machine, setting, key),
        Family::Timer => timer_latency::measure(machine, setting, key, progress)?,
        Family::Micro => micro::measure(machine, setting, key),
    };
    Ok(alloc::vec![scenario])
}
