//! Exits that are longer if the cluster was off, because there is more to do at power-on.

use suite::measure::Metric::Wakeup;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::known_lead::lead;
use super::suite_tables::{SuiteTables, TableFigure};
use crate::analysis::findings::BasedFinding;

/// The additional exit cost if the cluster was off.
const CLUSTER_EXIT: FindingKind = FindingKind::new("cluster-exit");

/// Applies if every CPU that flushes its cluster's caches takes at least a tenth longer to return
/// than from level 0.
pub(in crate::analysis) fn cluster_exit(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let shallow = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, Wakeup)?;
    let deep = tables.column(ScenarioId::SUSPEND_DEEP_SERIAL, Wakeup)?;
    let flushes = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_SERIAL)?;
    let lead = lead(tables)?;
    let is_with_cluster = |cpu| flushes.is_of_cluster(cpu);
    let pairs: Vec<(TableFigure, TableFigure)> = shallow
        .filtered(is_with_cluster)
        .into_iter()
        .zip(deep.filtered(is_with_cluster))
        .collect();
    let are_longer = pairs
        .iter()
        .all(|(on_figure, off_figure)| tables.is_longer(off_figure, on_figure, 10));
    // The lead keeps its cluster on, even if the other CPUs in it flush the cluster's caches.
    let (on, off): (Vec<TableFigure>, Vec<TableFigure>) = pairs
        .into_iter()
        .filter(|(on_figure, _)| !lead.has_twin(tables, on_figure.cpu))
        .unzip();
    if on.is_empty() || !are_longer {
        return None;
    }
    let cpus = tables.names(on.iter().map(|exit| exit.cpu));
    let short = tables.range(&on);
    let long = tables.range(&off);
    Some(BasedFinding::of_tables(
        CLUSTER_EXIT,
        format!(
            "Exits are shorter if the cluster stays on, because there is less to do at power-on: \
             {short} in level 0 serial, compared with {long} in deep serial ({cpus})."
        ),
        on.into_iter().chain(off).chain(flushes.large()),
    ))
}
