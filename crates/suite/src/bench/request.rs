//! Measures one scenario: what its code receives, and when it is skipped.

use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::sync::atomic::AtomicU64;

use crate::measure::Machine;
use crate::model::{Cpu, Failure, Scenario, ScenarioKey, Skip, Status};
use crate::plan::{Method, Plan};

use super::states::States;
use super::wake_sources::WakeSources;

/// Data shared by all scenarios in a run.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'r> {
    pub(crate) plan: &'r Plan,
    pub(crate) cpus: &'r [Cpu],
    pub(crate) states: &'r States,
    pub(crate) wake_sources: &'r WakeSources,
    /// The [`crate::measure::SampleCount`] before the current round, for the host to read from memory.
    pub(crate) samples: &'r AtomicU64,
}

/// Everything that a scenario's code receives.
pub struct Request<'m> {
    /// Runs the rounds.
    pub machine: &'m mut dyn Machine,
    /// The data that all scenarios share.
    pub setting: Setting<'m>,
    /// The scenario and its method.
    pub key: ScenarioKey,
    /// The UART, for lines that are printed between rounds.
    pub out: &'m mut dyn Write,
}

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
    if let Some(why) = machine.facts().no_cpu_off
        && turns_off
    {
        return Ok(ended(Status::Skipped(Skip::NoCpuOff(why))));
    }
    let mut measured = (descriptor.measure)(Request {
        machine: &mut *machine,
        setting,
        key,
        out,
    })?;
    let secure_interrupt = machine.take_secure_interrupt();
    for conditions in measured
        .iter_mut()
        .filter_map(|one| one.conditions.as_mut())
    {
        conditions.secure_interrupt = secure_interrupt;
    }
    Ok(match machine.facts().no_cpu_off {
        Some(why) if turns_off => ended(Status::Failed(Failure::NoCpuOff(why))),
        _ => measured,
    })
}
