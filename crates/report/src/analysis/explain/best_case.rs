//! Serial suspends to level 0: the CPU has the least work to do, and no other CPU delays it.

use suite::measure::Metric::{CacheFlush, Powerdown};
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::suite_tables::{Column, SuiteTables, TableFigure, are_alike};
use crate::analysis::findings::BasedFinding;

/// The shortest entries in a run.
const BEST_CASE: FindingKind = FindingKind::new("best-case");

/// Applies if serial entries to level 0 are alike and none is longer than the same CPU's in another
/// scenario.
pub(in crate::analysis) fn best_case(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let entries = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, Powerdown)?;
    let flushes = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, CacheFlush)?;
    let other_entries = [
        ScenarioId::SUSPEND_DEEP_PARALLEL,
        ScenarioId::SUSPEND_DEEP_SERIAL,
        ScenarioId::CPU_SUSPEND_PARALLEL,
        ScenarioId::CPU_OFF_SERIAL,
    ]
    .into_iter()
    .map(|id| tables.column(id, Powerdown))
    .collect::<Option<Vec<Column>>>()?;
    let is_shortest = |entry: &TableFigure| {
        let fastest = tables.samples_of(entry).0;
        other_entries
            .iter()
            .filter_map(|column| column.figure(entry.cpu))
            .all(|other| entry.ticks <= other.ticks && fastest <= tables.samples_of(other).0)
    };
    let are_entries_alike = are_alike(entries.figures().map(|entry| entry.ticks));
    if !are_entries_alike || !entries.figures().all(is_shortest) {
        return None;
    }
    let range = tables.range(entries.figures());
    let flush = if flushes_only_own(tables) {
        let flush_range = tables.range(flushes.figures());
        format!(", with a flush of only the CPU's own caches ({flush_range})")
    } else {
        String::new()
    };
    let basis = entries
        .figures()
        .chain(flushes.figures())
        .chain(other_entries.iter().flat_map(Column::figures));
    Some(BasedFinding::of_tables(
        BEST_CASE,
        format!(
            "Level 0 serial is the best case: entries take {range}{flush}, and no CPU enters \
             faster in any other scenario."
        ),
        basis.copied(),
    ))
}

/// Returns true if CPUs flush their cluster's caches in the deepest state but not at level 0.
fn flushes_only_own(tables: &SuiteTables<'_>) -> bool {
    let [shallow, deep] = [
        ScenarioId::CPU_SUSPEND_SERIAL,
        ScenarioId::SUSPEND_DEEP_SERIAL,
    ]
    .map(|id| Flushes::of(tables, id));
    let has_none = shallow.is_some_and(|flushes| flushes.large().is_empty());
    has_none && deep.is_some_and(|flushes| !flushes.large().is_empty())
}
