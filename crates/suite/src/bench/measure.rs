//! Measures one scenario.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::Machine;
use crate::model::{Failure, Scenario, ScenarioKey, Skip, Status};
use crate::plan::Method;

use super::request::{Request, Setting};

/// Measures one scenario, once for each helper placement. A scenario that turns CPUs off is skipped
/// if CPU_OFF is known not to work. If a scenario is the first to discover that CPU_OFF does not
/// work, it fails without results, unless it measures nothing.
pub fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    out: &mut dyn Write,
) -> Result<Vec<Scenario>, fmt::Error> {
    let descriptor = key.id.descriptor();
    let turns_off = key.method == Method::Tftf || descriptor.needs_cpu_off;
    let ended = |status| {
        alloc::vec![Scenario {
            status,
            ..Scenario::new(key)
        }]
    };
    if let Some(why) = machine.facts().no_cpu_off.filter(|_| turns_off) {
        return Ok(ended(Status::Skipped(Skip::NoCpuOff(why))));
    }
    let measured = (descriptor.measure)(Request {
        machine: &mut *machine,
        setting,
        key,
        out,
    })?;
    Ok(match machine.facts().no_cpu_off.filter(|_| turns_off) {
        Some(why) => ended(Status::Failed(Failure::NoCpuOff(why))),
        None => measured,
    })
}
