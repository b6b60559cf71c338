//! The `fitness` scenario, which shows which PSCI functions work. It looks up each function in the
//! firmware's list, calls it if that is harmless, and observes the effect. It measures nothing.
//!
//! A check can cause a CPU to be lost. The checks are therefore ordered from harmless to dangerous:
//! calls on the lead, CPU_ON and CPU_OFF for each CPU, CPU_SUSPEND to each declared state, CPU_ON
//! after shorter and shorter pauses and, only if requested, calls with wrong arguments. Functions
//! that turn off or reset the system are never called.

mod checks;
mod listings;
mod power;
mod states;
mod wrong_arguments;

use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::{Machine, Outcome};
use crate::model::{Failure, Scenario, ScenarioKey, Status};

use self::checks::Fitness;
use super::bench::Setting;

/// Checks all functions.
///
/// # Errors
/// Returns an error if output cannot be written.
pub(crate) fn check(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    out: &mut dyn Write,
) -> Result<Scenario, fmt::Error> {
    let cpus = setting.cpus.len();
    let states = setting.states.accepted.len() + setting.states.foreign.len();
    let mut fitness = Fitness {
        machine,
        out,
        setting,
        outcomes: alloc::vec![Outcome::default(); cpus],
        checks: Vec::with_capacity(setting.plan.cells(key.id, cpus, states)),
    };
    listings::check(&mut fitness)?;
    power::check(&mut fitness)?;
    states::check(&mut fitness)?;
    power::check_pauses(&mut fitness)?;
    if setting.plan.destructive {
        wrong_arguments::check(&mut fitness)?;
    }
    Ok(finish(fitness, key))
}

/// Returns the scenario, marked as failed if any check failed.
fn finish(fitness: Fitness<'_>, key: ScenarioKey) -> Scenario {
    let mut failed = fitness.checks.iter().filter(|check| check.has_failed());
    let status = match failed.next() {
        None => Status::Passed,
        Some(first) => Status::Failed(Failure::CheckFailed {
            function: first.function,
            probe: first.probe,
            failed: 1 + failed.count() as u32,
        }),
    };
    Scenario {
        status,
        checks: fitness.checks,
        ..Scenario::new(key)
    }
}
