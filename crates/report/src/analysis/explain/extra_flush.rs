//! CPUs other than the last man that flush their cluster's caches.

use itertools::Itertools as _;
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::lead::lead;
use super::suite_tables::{SuiteTables, TableFigure};
use crate::analysis::findings::BasedFinding;

/// Cluster flushes by CPUs that are not the last man.
pub(crate) const EXTRA_FLUSH: Kind = Kind::new("extra-flush");

pub(in crate::analysis) fn extra_flush(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let parallel = in_parallel(tables);
    let series = Flushes::in_series(tables).unwrap_or_default();
    let serial = lead(tables).map(|lead| {
        let large = series.iter().flat_map(|it| it.1.large());
        let all: Vec<TableFigure> = large.filter(|it| lead.has_twin(tables, it.cpu)).collect();
        (lead, all)
    });
    let mut sentences = Vec::new();
    if !parallel.is_empty() {
        let clusters = parallel.iter().counts_by(|it| tables.cluster(it.cpu));
        let clusters = clusters.into_iter().sorted_unstable();
        let each = clusters.map(|(cluster, count)| {
            format!(
                "{count} of {} in cluster {cluster}",
                tables.size_of(cluster)
            )
        });
        let (each, range) = (each.format(" and "), tables.range(&parallel));
        sentences.push(format!(
            "in deep parallel, {each} do so ({range}), but only one per cluster can be the last"
        ));
    }
    let mut figures = parallel;
    if let Some((lead, serial)) = serial
        && !serial.is_empty()
    {
        let cpus = tables.names(serial.iter().map(|it| it.cpu).unique());
        let (range, lead) = (tables.range(&serial), tables.logged.run.label(lead.cpu));
        sentences.push(format!(
            "in serial scenarios, {cpus} do so ({range}), although the lead, {lead}, keeps their \
             cluster on"
        ));
        figures.extend(serial);
    }
    if sentences.is_empty() {
        return None;
    }
    let sentence = format!(
        "CPUs other than the last one down pay for flushing the cluster's caches: {}.",
        sentences.join("; ")
    );
    Some(BasedFinding::of_tables(EXTRA_FLUSH, sentence, figures))
}

/// Returns the cluster flushes in parallel deep suspends, but only for clusters with more than one
/// such flush.
fn in_parallel(tables: &SuiteTables<'_>) -> Vec<TableFigure> {
    let Some(flushes) = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_PARALLEL) else {
        return Vec::new();
    };
    let clusters = flushes.large().into_iter();
    let clusters = clusters.into_group_map_by(|it| tables.cluster(it.cpu));
    let several = clusters.into_values().filter(|it| it.len() > 1);
    several.flatten().sorted_by_key(|it| it.cpu).collect()
}
