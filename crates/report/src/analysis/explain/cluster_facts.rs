//! A cluster's CPU type and cache size, from the log records if they contain them, otherwise from
//! the board file.

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
    let page = if tables.logged.run.has_records() {
        None
    } else {
        let name = tables.logged.board();
        let board = name.and_then(|name| boards::load(name).ok());
        board.and_then(|board| board.publish)
    };
    let described = page.map_or_else(Vec::new, |page| page.clusters);
    let facts = |cluster: u16| match described.get(usize::from(cluster)) {
        Some(described) => ClusterFacts {
            cluster,
            cpu_type: Some(described.cpu.clone()),
            cache: Some(described.l2),
        },
        None => recorded_facts(tables, cluster),
    };
    tables.clusters().into_iter().map(facts).collect()
}

/// Returns what the records say about a cluster.
fn recorded_facts(tables: &SuiteTables<'_>, cluster: u16) -> ClusterFacts {
    let identities = tables
        .cpus()
        .filter(|cpu| tables.cluster(*cpu) == cluster)
        .map(|cpu| tables.logged.run.cpu(cpu).identity);
    let mut types = identities
        .clone()
        .map(|identity| cpu_names::type_of(identity?.midr));
    let mut caches = identities.map(|identity| identity?.caches.outer(None));
    ClusterFacts {
        cluster,
        cpu_type: types.all_equal_value().ok().flatten(),
        cache: caches.all_equal_value().ok().flatten(),
    }
}
