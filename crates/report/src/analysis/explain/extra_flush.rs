//! CPUs other than the last man that flush their cluster's caches.

use itertools::Itertools as _;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::known_lead::{KnownLead, lead};
use super::suite_tables::{SuiteTables, TableFigure};
use crate::analysis::findings::BasedFinding;

/// Cluster flushes by CPUs that are not the last man.
pub const EXTRA_FLUSH: FindingKind = FindingKind::new("extra-flush");

/// Applies if several CPUs of a cluster flush its caches in parallel, or if CPUs do so although the
/// lead keeps their cluster on.
pub(in crate::analysis) fn extra_flush(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let parallel = in_parallel(tables);
    let mut clauses = Vec::new();
    if !parallel.is_empty() {
        let counts = parallel
            .iter()
            .counts_by(|flush| tables.cluster(flush.cpu))
            .into_iter()
            .sorted_unstable()
            .map(|(cluster, count)| {
                let size = tables.size_of(cluster);
                format!("{count} of {size} in cluster {cluster}")
            })
            .join(" and ");
        let range = tables.range(&parallel);
        clauses.push(format!(
            "in deep parallel, {counts} do so ({range}), but only one per cluster can be the last"
        ));
    }
    let mut figures = parallel;
    if let Some(lead) = lead(tables) {
        let serial = in_series(tables, lead);
        if !serial.is_empty() {
            let cpus = tables.names(serial.iter().map(|flush| flush.cpu).unique());
            let range = tables.range(&serial);
            let lead = tables.logged.run.label(lead.cpu);
            clauses.push(format!(
                "in serial scenarios, {cpus} do so ({range}), although the lead, {lead}, keeps \
                 their cluster on"
            ));
            figures.extend(serial);
        }
    }
    if clauses.is_empty() {
        return None;
    }
    let sentence = format!(
        "CPUs other than the last one down pay for flushing the cluster's caches: {}.",
        clauses.join("; ")
    );
    Some(BasedFinding::of_tables(EXTRA_FLUSH, sentence, figures))
}

/// Returns the cluster flushes in parallel deep suspends, but only for clusters with more than one
/// such flush.
fn in_parallel(tables: &SuiteTables<'_>) -> Vec<TableFigure> {
    let Some(flushes) = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_PARALLEL) else {
        return Vec::new();
    };
    let by_cluster = flushes
        .large()
        .into_iter()
        .into_group_map_by(|flush| tables.cluster(flush.cpu));
    by_cluster
        .into_values()
        .filter(|figures| figures.len() > 1)
        .flatten()
        .sorted_by_key(|flush| flush.cpu)
        .collect()
}

/// Returns the cluster flushes in serial scenarios by the other CPUs in the lead's cluster.
fn in_series(tables: &SuiteTables<'_>, lead: KnownLead) -> Vec<TableFigure> {
    let scenarios = Flushes::in_series(tables).unwrap_or_default();
    scenarios
        .iter()
        .flat_map(|(_, flushes)| flushes.large())
        .filter(|flush| lead.has_twin(tables, flush.cpu))
        .collect()
}
