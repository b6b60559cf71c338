//! The measurement of one scenario.

use alloc::vec::Vec;
use core::fmt;

use run::measure::Machine;
use run::model::{Failure, Scenario, ScenarioKey, Skip, Status};
use run::plan::{Family, Method, ScenarioId};

use super::bench::Setting;
use super::progress::Progress;
use super::{micro, suite, sweep, timer_latency};

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
        Family::Suite => suite::measure(machine, setting, key, progress),
        Family::Sweep => alloc::vec![sweep::measure(machine, setting, key, progress)],
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
