//! Explains why suspends to level 0 queue: the platform must take a lock, because the generic PSCI
//! code takes none at that level.

use suite::findings::LockQueue;
use suite::measure::Metric::Powerdown;
use suite::model::{FindingKind, Scenario};
use suite::plan::ScenarioId;

use super::suite_tables::{SuiteTables, even_intervals, exceeds};
use super::uniform_exits::UniformExits;
use crate::analysis::findings::BasedFinding;

/// A platform lock.
pub const PLATFORM_LOCK: FindingKind = FindingKind::new("platform-lock");

/// Applies if parallel entries to level 0 grow in even steps although exits do not queue.
pub(in crate::analysis) fn platform_lock(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let parallel = tables.column(ScenarioId::CPU_SUSPEND_PARALLEL, Powerdown)?;
    let serial = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, Powerdown)?;
    let exits = UniformExits::of(tables)?;
    let interval_range = even_intervals(parallel.figures().map(|entry| entry.ticks), 1)?;
    let is_longer = exceeds(parallel.most(), serial.most(), 1);
    if !is_longer || contradicts_queue(tables.scenario(ScenarioId::CPU_SUSPEND_PARALLEL)?) {
        return None;
    }
    // If an interval is shorter than a serial entry, the lock is released before the CPU that holds
    // it is off.
    let until = if interval_range.0 >= serial.most() {
        ", and holds it until the CPU is off"
    } else {
        ""
    };
    let steps = tables.logged.clock().range(interval_range);
    let together = tables.range(parallel.figures());
    let alone = tables.range(serial.figures());
    let out = tables.range(exits.parallel.figures());
    let entries = parallel.figures().chain(serial.figures()).copied();
    Some(BasedFinding::of_tables(
        PLATFORM_LOCK,
        format!(
            "At level 0, PSCI's generic code takes no lock, but parallel entries queue: they take \
             {together}, in steps of {steps}. Serial entries take {alone}, and exits do not queue \
             ({out}). The platform must have a lock, for example around its only channel to a \
             power controller{until}."
        ),
        entries.chain(exits.figures()),
    ))
}

/// Returns true if timestamps show that entries do not grow in the order in which CPUs go down.
fn contradicts_queue(scenario: &Scenario) -> bool {
    let queue = LockQueue::fit(scenario);
    scenario.has_order() && !queue.is_some_and(|queue| queue.is_queue())
}
