//! Explains queues of CPUs that power down in parallel, for tables without timestamps. If there are
//! timestamps, the scenario's own finding also shows the order.

use suite::measure::Metric::Powerdown;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::suite_tables::{SuiteTables, even_intervals, exceeds};
use crate::analysis::findings::BasedFinding;

/// CPUs that wait for each other while powering down.
pub const ENTRY_QUEUE: FindingKind = FindingKind::new("entry-queue");

/// Applies if parallel entries grow in even steps and the longest one exceeds the longest serial
/// one by at least half.
pub(in crate::analysis) fn entry_queue(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let has_order = tables
        .scenario(ScenarioId::SUSPEND_DEEP_PARALLEL)?
        .has_order();
    let parallel = tables.column(ScenarioId::SUSPEND_DEEP_PARALLEL, Powerdown)?;
    let serial = tables.column(ScenarioId::SUSPEND_DEEP_SERIAL, Powerdown)?;
    // The last man flushes its cluster's caches while holding the locks, so one interval is longer.
    let flush_count = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_PARALLEL)
        .map_or(0, |flushes| flushes.large().len());
    let odd_max = flush_count.clamp(1, tables.clusters().len());
    let interval_range = even_intervals(parallel.figures().map(|entry| entry.ticks), odd_max)?;
    // The last CPU in a queue waits for all the others before it can enter a low-power state.
    let is_longer = exceeds(parallel.most(), serial.most(), 2);
    if has_order || !is_longer {
        return None;
    }
    let steps = tables.logged.clock().range(interval_range);
    let together = tables.range(parallel.figures());
    let alone = tables.range(serial.figures());
    Some(BasedFinding::of_tables(
        ENTRY_QUEUE,
        format!(
            "In deep parallel, CPUs queue for PSCI's locks: entries take {together}, in steps of \
             {steps}. In deep serial, without a queue, they take {alone}."
        ),
        parallel.figures().chain(serial.figures()).copied(),
    ))
}
