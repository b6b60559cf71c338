//! The scenarios of a plan in their order, and the measurement of one.

use alloc::vec::Vec;
use core::fmt;

use super::bench::Setting;
use super::point_bench::PointBench;
use super::progress::Progress;
use super::{micro, suite, sweep, timer_latency};
use crate::measure::Machine;
use crate::model::{Scenario, ScenarioKey};
use crate::plan::{Method, Plan, ScenarioId};

/// One scenario of a plan, by one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The scenario.
    pub id: ScenarioId,
    /// The method.
    pub method: Method,
}

/// Returns the scenarios of a plan: the suite by each method, then the others.
pub fn jobs(plan: &Plan) -> impl Iterator<Item = Job> + use<> {
    let (scenarios, methods) = (plan.scenarios, plan.methods);
    let suite = methods.iter().flat_map(move |method| {
        let ids = scenarios.suite().iter();
        ids.map(move |id| Job { id, method })
    });
    let others = scenarios.iter().filter(|id| !id.is_suite());
    suite.chain(others.map(move |id| {
        // In sweeps alone CPUs are turned on again for each sample.
        let method = match id.is_sweep() {
            true => methods.first(),
            false => Method::Warm,
        };
        Job { id, method }
    }))
}

/// Measures one scenario, once for each placement of its helper.
///
/// # Errors
/// Those of `progress`.
pub fn measure<M: Machine>(
    machine: &mut M,
    setting: Setting<'_>,
    Job { id, method }: Job,
    progress: &mut dyn Progress,
) -> Result<Vec<Scenario>, fmt::Error> {
    let key = ScenarioKey {
        id,
        method,
        helper: None,
    };
    Ok(match id {
        id if id.is_suite() => suite::measure(machine, setting, id, method),
        id if id.is_sweep() => alloc::vec![sweep::measure(machine, setting, key)],
        ScenarioId::TimerLatency => {
            let points = timer_latency::points(&setting.plan.timer, setting.cpus.len());
            let mut bench = PointBench::new(machine, setting, points.unwrap_or_default());
            let status = timer_latency::measure(&mut bench, progress)?;
            alloc::vec![bench.finish(key, status)]
        }
        _ => alloc::vec![micro::measure(machine, setting, key)],
    })
}
