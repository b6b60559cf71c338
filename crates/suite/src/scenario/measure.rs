//! The jobs of a plan in their order, and the measurement of one scenario.

use alloc::vec::Vec;
use core::fmt;

use run::measure::Machine;
use run::model::{Failure, Scenario, ScenarioKey, Skip, Status};
use run::plan::{Family, Method, Plan, ScenarioId};

use super::bench::Setting;
use super::progress::Progress;
use super::{micro, suite, sweep, timer_latency};

/// A job of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Measures a scenario.
    Measure(ScenarioKey),
    /// Tries to wake a CPU from each state that is to be measured: `Wakers::try_out`.
    TryWakers,
}

/// Returns the jobs of a plan. Each trial may cost a CPU, so PSCI_VERSION, which suspends
/// none, is measured before them. All else follows.
pub fn jobs(plan: &Plan) -> impl Iterator<Item = Job> + use<> {
    let is_first = |key: &ScenarioKey| key.id == ScenarioId::PsciVersionParallel;
    let first = scenarios(plan).filter(is_first).map(Job::Measure);
    let rest = scenarios(plan).filter(move |key| !is_first(key));
    first.chain([Job::TryWakers]).chain(rest.map(Job::Measure))
}

/// Returns the scenarios of a plan, without helpers: the suite by each method, then
/// the others.
pub(crate) fn scenarios(plan: &Plan) -> impl Iterator<Item = ScenarioKey> + use<> {
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

/// Measures one scenario, once for each placement of its helper. One that turns CPUs off is
/// skipped where that is not possible, and has no results where it turns out not to be.
pub fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    progress: &mut dyn Progress,
) -> Result<Vec<Scenario>, fmt::Error> {
    let turns_off = key.method == Method::Tftf
        || matches!(key.id, ScenarioId::CpuOffSerial | ScenarioId::CpuOn);
    let ended = |status| {
        alloc::vec![Scenario {
            status,
            ..Scenario::new(key)
        }]
    };
    if let Some(why) = machine.facts().no_cpu_off.filter(|_| turns_off) {
        return Ok(ended(Status::Skipped(Skip::NoCpuOff(why))));
    }
    let measured = match key.id.family() {
        Family::Suite => suite::measure(machine, setting, key),
        Family::Sweep => alloc::vec![sweep::measure(machine, setting, key)],
        Family::Timer => {
            alloc::vec![timer_latency::measure(machine, setting, key, progress)?]
        }
        Family::Micro => alloc::vec![micro::measure(machine, setting, key)],
    };
    Ok(match machine.facts().no_cpu_off.filter(|_| turns_off) {
        Some(why) => ended(Status::Failed(Failure::NoCpuOff(why))),
        None => measured,
    })
}
