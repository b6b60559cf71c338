//! Exits that are longer if the cluster was off, because there is more to do at power-on.

use suite::measure::Metric::Wakeup;
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::lead::lead;
use super::suite_tables::{SuiteTables, TableFigure};
use crate::analysis::findings::BasedFinding;

/// The additional exit cost if the cluster was off.
const CLUSTER_EXIT: Kind = Kind::new("cluster-exit");

pub(in crate::analysis) fn cluster_exit(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let shallow = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, Wakeup)?;
    let deep = tables.column(ScenarioId::SUSPEND_DEEP_SERIAL, Wakeup)?;
    let flushes = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_SERIAL)?;
    let lead = lead(tables)?;
    let with_cluster = |cpu| flushes.is_of_cluster(cpu);
    let (on, off) = (shallow.filtered(with_cluster), deep.filtered(with_cluster));
    let pairs = on.into_iter().zip(off);
    let pairs: Vec<(TableFigure, TableFigure)> = pairs.collect();
    let are_longer = pairs.iter().all(|(on, off)| tables.is_longer(off, on, 10));
    // The lead keeps its cluster on, even if the other CPUs in it flush the cluster's caches.
    let was_off = pairs.iter().filter(|it| !lead.has_twin(tables, it.0.cpu));
    let (on, off): (Vec<TableFigure>, Vec<TableFigure>) = was_off.copied().unzip();
    if on.is_empty() || !are_longer {
        return None;
    }
    let cpus = tables.names(on.iter().map(|it| it.cpu));
    let [short, long] = [&on, &off].map(|it| tables.range(it));
    Some(BasedFinding::of_tables(
        CLUSTER_EXIT,
        format!(
            "Exits are shorter if the cluster stays on, because there is less to do at power-on: \
             {short} in level 0 serial, compared with {long} in deep serial ({cpus})."
        ),
        on.into_iter().chain(off).chain(flushes.large()),
    ))
}
