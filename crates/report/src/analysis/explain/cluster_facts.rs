//! A cluster's CPU type and cache size, from the log records if they contain them, otherwise from
//! the board file.

use hardware::board::CpuIndex;
use itertools::Itertools as _;

use super::suite_tables::SuiteTables;
use crate::analysis::cpu_names;

/// Facts about one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClusterFacts {
    /// The cluster number.
    pub cluster: u16,
    /// The CPU type, such as `Cortex-A57`; None if it is unknown or the CPUs differ.
    pub cpu_type: Option<String>,
    /// The size in bytes of the outer cache, which is flushed when the cluster powers down.
    pub cache: Option<u64>,
}

/// Returns the facts about each cluster. Records take precedence over a board file, because the
/// file describes only one model of the board.
pub(super) fn cluster_facts(tables: &SuiteTables<'_>) -> Vec<ClusterFacts> {
    let run = &tables.logged.run;
    let is_described = !run.has_records();
    let board = tables.logged.board().filter(|_| is_described);
    let board = board.and_then(|name| boards::load(name).ok());
    let page = board.and_then(|it| it.publish);
    let facts = tables.clusters().into_iter().map(|cluster| {
        let described = page.as_ref();
        let described = described.and_then(|it| it.clusters.get(usize::from(cluster)));
        if let Some(it) = described {
            return ClusterFacts {
                cluster,
                cpu_type: Some(it.cpu.clone()),
                cache: Some(it.l2),
            };
        }
        let own = |cpu: &CpuIndex| tables.cluster(*cpu) == cluster;
        let identities = tables.cpus().filter(own).map(|cpu| run.cpu(cpu).identity);
        let mut types = identities.clone().map(|it| cpu_names::type_of(it?.midr));
        let mut caches = identities.map(|it| it?.caches.outer(None));
        ClusterFacts {
            cluster,
            cpu_type: types.all_equal_value().ok().flatten(),
            cache: caches.all_equal_value().ok().flatten(),
        }
    });
    facts.collect()
}
