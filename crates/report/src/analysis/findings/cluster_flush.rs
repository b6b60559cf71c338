//! Finds changes in the set of CPUs that flush a cluster-sized cache.
//!
//! The figures do not show which CPU was the last man, and a single long flush is not conclusive.
//! But when the CPUs in a cluster go down together, only one of them can be the last man. If
//! several flushes take at least 4/5 as long as the cluster's longest one, CPUs other than the last
//! man also flush the cluster's cache.

use std::collections::BTreeMap;

use suite::measure::Metric;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::based_finding::BasedFinding;
use crate::analysis::compare::{Change, ComparedScenario, Difference};

/// CPUs that started or stopped flushing their cluster's cache.
pub const FLUSH_OF_CLUSTER: FindingKind = FindingKind::new("flush-of-cluster");

/// The minimum ratio between a flush of a cluster's caches and one of a CPU's own. A smaller
/// difference may have another cause.
pub(in crate::analysis) const FLUSH_CONTRAST: u64 = 4;

/// Describes the clusters in which CPUs other than the last man started or stopped flushing a
/// cluster-sized cache in a parallel round.
pub(super) fn cluster_flushes(difference: &Difference<'_>) -> Vec<BasedFinding> {
    if difference.sides.new.header.has_unknown_clusters {
        return Vec::new();
    }
    [FlushTrend::Starts, FlushTrend::Stops]
        .into_iter()
        .filter_map(|trend| cluster_flush(difference, trend))
        .collect()
}

/// Whether CPUs other than the last man start or stop flushing their cluster's cache.
#[derive(Clone, Copy)]
enum FlushTrend {
    Starts,
    Stops,
}

impl FlushTrend {
    const fn verb(self) -> &'static str {
        match self {
            Self::Starts => "now pay",
            Self::Stops => "no longer pay",
        }
    }

    /// Returns the flush times on the side on which fewer CPUs flush, and on the other side.
    const fn few_and_many(self, change: &Change) -> (f64, f64) {
        match self {
            Self::Starts => (change.old.figure, change.new.figure),
            Self::Stops => (change.new.figure, change.old.figure),
        }
    }
}

/// Describes the clusters that follow this trend; None if there are none.
fn cluster_flush(difference: &Difference<'_>, trend: FlushTrend) -> Option<BasedFinding> {
    let cluster_of = |change: &Change| difference.sides.new.run.cpu(change.cpu).cluster;
    let parallel = flushes(difference, ScenarioId::SUSPEND_DEEP_PARALLEL);
    let serial = flushes(difference, ScenarioId::SUSPEND_DEEP_SERIAL);
    // The reference times come from the side on which fewer CPUs flush, because the flushes on
    // the other side may be too similar.
    let sizes = sizes(serial.iter().chain(&parallel).map(|change| {
        let (few, _) = trend.few_and_many(change);
        (cluster_of(change), few)
    }));
    let clusters = sizes.into_iter().filter_map(|(cluster, size)| {
        let changes: Vec<&Change> = parallel
            .iter()
            .copied()
            .filter(|change| cluster_of(change) == cluster)
            .collect();
        let is_large = |flush: f64| flush * 5.0 >= size * 4.0;
        let pairs = changes.iter().map(|change| trend.few_and_many(change));
        let few = pairs
            .clone()
            .filter(|(few_cpus, _)| is_large(*few_cpus))
            .count();
        let many = pairs.filter(|(_, many_cpus)| is_large(*many_cpus)).count();
        let (then, now) = match trend {
            FlushTrend::Starts => (few, many),
            FlushTrend::Stops => (many, few),
        };
        let total = changes.len();
        let text = format!("{now} of {total} in cluster {cluster} (was {then})");
        (few <= 1 && many > 1).then_some((text, changes))
    });
    let (texts, by_cluster): (Vec<String>, Vec<Vec<&Change>>) = clusters.unzip();
    let changes = by_cluster.concat();
    let scenario = scenario(difference, ScenarioId::SUSPEND_DEEP_PARALLEL)?;
    let sentence = format!(
        "CPUs other than the last man {} for flushing the whole cluster's cache: in one \
         parallel round {}, but a cluster can have only one last man.",
        trend.verb(),
        texts.join(" and ")
    );
    (!changes.is_empty())
        .then(|| BasedFinding::of_changes(FLUSH_OF_CLUSTER, sentence, scenario.key, &changes))
}

fn scenario<'d>(difference: &Difference<'d>, id: ScenarioId) -> Option<&'d ComparedScenario> {
    let mut scenarios = difference.scenarios.iter();
    scenarios.find(|scenario| scenario.key.id == id)
}

/// Returns the changes in a scenario's cache flushes, CPU by CPU.
fn flushes<'d>(difference: &Difference<'d>, id: ScenarioId) -> Vec<&'d Change> {
    scenario(difference, id)
        .into_iter()
        .flat_map(|scenario| &scenario.by_cpu)
        .filter(|change| change.key.suite_metric() == Some(Metric::CacheFlush))
        .collect()
}

/// Returns each cluster's longest flush, if it is much longer than the shortest flush on any CPU.
fn sizes(flushes: impl Iterator<Item = (u16, f64)>) -> BTreeMap<u16, f64> {
    let mut least = f64::MAX;
    let mut sizes = BTreeMap::new();
    for (cluster, flush) in flushes {
        least = flush.min(least);
        let size: &mut f64 = sizes.entry(cluster).or_default();
        *size = size.max(flush);
    }
    sizes.retain(|_, size| least * FLUSH_CONTRAST as f64 <= *size);
    sizes
}
