//! The lead's cluster, which stays on while the lead is awake.

use itertools::Itertools as _;
use suite::model::FindingKind;

use super::cluster_flush::Flushes;
use super::known_lead::lead;
use super::suite_tables::{SuiteTables, short_name};
use crate::analysis::findings::BasedFinding;

/// CPUs in the lead's cluster.
const LEAD_CLUSTER: FindingKind = FindingKind::new("lead-cluster");

/// Applies if all CPUs flush their cluster's caches except those in the lead's cluster.
pub(in crate::analysis) fn lead_cluster(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let lead = lead(tables)?;
    let mut shown = Vec::new();
    for (scenario, flushes) in Flushes::in_series(tables)? {
        // If all flushes are cluster flushes, a different explanation applies.
        if !flushes.small().is_empty() {
            let is_explained = |cpu| flushes.is_of_cluster(cpu) != lead.has_twin(tables, cpu);
            if !tables.cpus().all(is_explained) {
                return None;
            }
            shown.push((scenario, flushes));
        }
    }
    let (_, first) = shown.first()?;
    let cpus = tables.names(first.small().iter().map(|flush| flush.cpu));
    let phrases = shown
        .iter()
        .map(|(scenario, flushes)| {
            let small = tables.range(&flushes.small());
            let large = tables.range(&flushes.large());
            let name = short_name(*scenario);
            format!("{small} in {name}, compared with {large} on the others")
        })
        .join("; ");
    let label = tables.logged.run.label(lead.cpu);
    let cluster = tables.cluster(lead.cpu);
    Some(BasedFinding::of_tables(
        LEAD_CLUSTER,
        format!(
            "Cluster {cluster} stays on in serial scenarios, because the lead, {label}, stays \
             awake: its other CPUs ({cpus}) flush only their own caches, {phrases}.{}",
            lead.remark()
        ),
        shown.iter().flat_map(|(_, flushes)| flushes.all()),
    ))
}
