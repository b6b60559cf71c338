//! Serial suspends to level 0: the CPU has the least work to do, and no other CPU delays it.

use suite::measure::Metric::{CacheFlush, Powerdown};
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::suite_tables::{Column, SuiteTables, TableFigure, are_alike};
use crate::analysis::findings::BasedFinding;

/// The shortest entries in a run.
const BEST_CASE: Kind = Kind::new("best-case");

pub(in crate::analysis) fn best_case(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let entries = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, Powerdown)?;
    let flushes = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, CacheFlush)?;
    let others = [
        ScenarioId::SUSPEND_DEEP_PARALLEL,
        ScenarioId::SUSPEND_DEEP_SERIAL,
        ScenarioId::CPU_SUSPEND_PARALLEL,
        ScenarioId::CPU_OFF_SERIAL,
    ];
    let others = others.map(|id| tables.column(id, Powerdown));
    let others: Option<Vec<Column>> = others.into_iter().collect();
    let others = others?;
    let is_shortest = |own: &TableFigure| {
        let mut others = others.iter().filter_map(|it| it.figure(own.cpu));
        let fastest = tables.samples_of(own).0;
        others.all(|it| own.ticks <= it.ticks && fastest <= tables.samples_of(it).0)
    };
    let are_entries_alike = are_alike(entries.figures().map(|it| it.ticks));
    if !are_entries_alike || !entries.figures().all(is_shortest) {
        return None;
    }
    let range = tables.range(entries.figures());
    let flush = match flushes_only_own(tables) {
        true => {
            let flush = tables.range(flushes.figures());
            format!(", with a flush of only the CPU's own caches ({flush})")
        }
        false => String::new(),
    };
    let own = entries.figures().chain(flushes.figures());
    let all = own.chain(others.iter().flat_map(Column::figures));
    Some(BasedFinding::of_tables(
        BEST_CASE,
        format!(
            "Level 0 serial is the best case: entries take {range}{flush}, and no CPU enters \
             faster in any other scenario."
        ),
        all.copied(),
    ))
}

/// Returns true if CPUs flush their cluster's caches in the deepest state but not at level 0.
fn flushes_only_own(tables: &SuiteTables<'_>) -> bool {
    let [shallow, deep] = [
        ScenarioId::CPU_SUSPEND_SERIAL,
        ScenarioId::SUSPEND_DEEP_SERIAL,
    ]
    .map(|id| Flushes::of(tables, id));
    let has_none = shallow.is_some_and(|it| it.large().is_empty());
    has_none && deep.is_some_and(|it| !it.large().is_empty())
}
