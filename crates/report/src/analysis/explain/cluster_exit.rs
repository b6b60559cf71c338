//! Exits that are longer if the cluster was off, because there is more to do at power-on.

use run::measure::Metric::Wakeup;
use run::model::Kind;
use run::plan::ScenarioId::{CpuSuspendSerial, SuspendDeepSerial};

use super::cluster_flush::Flushes;
use super::explanation::Explanation;
use super::suite_tables::{SuiteTables, exceeds};

/// The additional exit cost if the cluster was off.
const CLUSTER_EXIT: Kind = Kind::new("cluster-exit");

pub(super) fn explain(tables: &SuiteTables<'_>) -> Option<Explanation> {
    let shallow = tables.column(CpuSuspendSerial, Wakeup)?;
    let deep = tables.column(SuspendDeepSerial, Wakeup)?;
    let flushes = Flushes::of(tables, SuspendDeepSerial)?;
    let with_cluster = |cpu| flushes.is_of_cluster(cpu);
    let (on, off) = (shallow.filtered(with_cluster), deep.filtered(with_cluster));
    // Samples vary by less than a tenth.
    let is_longer = |(on, off): (u64, u64)| exceeds(off, on, 10);
    let mut pairs = on.iter().zip(&off).map(|(on, off)| (on.ticks, off.ticks));
    if on.is_empty() || !pairs.all(is_longer) {
        return None;
    }
    let cpus = tables.names(on.iter().map(|it| it.cpu));
    let [short, long] = [&on, &off].map(|it| tables.range(it));
    Some(Explanation {
        kind: CLUSTER_EXIT,
        sentence: format!(
            "Exits are shorter if the cluster stays on, because there is less to do at power-on: \
             {short} in level 0 serial, compared with {long} in deep serial ({cpus})."
        ),
        figures: on.into_iter().chain(off).chain(flushes.large()).collect(),
    })
}
