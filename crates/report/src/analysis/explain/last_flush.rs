//! One large flush per cluster, for tables without timestamps. If there are timestamps, the
//! scenario's own finding identifies the last man.

use itertools::Itertools as _;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::suite_tables::SuiteTables;
use crate::analysis::findings::BasedFinding;

/// The CPU in each cluster that flushes the cluster's caches.
const LAST_FLUSH: FindingKind = FindingKind::new("last-flush");

/// Applies if exactly one CPU in each cluster flushes the cluster's caches.
pub(in crate::analysis) fn last_flush(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    if tables
        .scenario(ScenarioId::SUSPEND_DEEP_PARALLEL)?
        .has_order()
    {
        return None;
    }
    let flushes = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_PARALLEL)?;
    let large = flushes.large();
    let small = flushes.small();
    let mut clusters = large.iter().map(|flush| tables.cluster(flush.cpu));
    let is_one_per_cluster = clusters.all_unique() && large.len() == tables.clusters().len();
    if !is_one_per_cluster || small.is_empty() {
        return None;
    }
    let cpus = large
        .iter()
        .map(|flush| {
            let cpu = tables.logged.run.label(flush.cpu);
            let span = tables.span(flush.ticks);
            format!("{cpu} ({span})")
        })
        .join(" and ");
    let others = tables.range(&small);
    Some(BasedFinding::of_tables(
        LAST_FLUSH,
        format!(
            "In deep parallel, one CPU in each cluster also flushes the cluster's caches, as the \
             last CPU down must: CPU {cpus}. The others flush only their own ({others})."
        ),
        flushes.all(),
    ))
}
