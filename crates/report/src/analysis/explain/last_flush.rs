//! One large flush per cluster, for tables without timestamps. If there are timestamps, the
//! scenario's own finding identifies the last man.

use itertools::Itertools as _;
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::suite_tables::SuiteTables;
use crate::analysis::findings::BasedFinding;

/// The CPU in each cluster that flushes the cluster's caches.
const LAST_FLUSH: Kind = Kind::new("last-flush");

pub(in crate::analysis) fn last_flush(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    if tables
        .scenario(ScenarioId::SUSPEND_DEEP_PARALLEL)?
        .has_order()
    {
        return None;
    }
    let flushes = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_PARALLEL)?;
    let (large, small) = (flushes.large(), flushes.small());
    let clusters = large.iter().map(|it| tables.cluster(it.cpu));
    let is_one_in_each = clusters.clone().all_unique() && large.len() == tables.clusters().len();
    if !is_one_in_each || small.is_empty() {
        return None;
    }
    let each = large.iter().map(|it| {
        let (cpu, span) = (tables.logged.run.label(it.cpu), tables.span(it.ticks));
        format!("{cpu} ({span})")
    });
    let (each, others) = (each.format(" and "), tables.range(&small));
    Some(BasedFinding::of_tables(
        LAST_FLUSH,
        format!(
            "In deep parallel, one CPU in each cluster also flushes the cluster's caches, as the \
             last CPU down must: CPU {each}. The others flush only their own ({others})."
        ),
        flushes.all(),
    ))
}
