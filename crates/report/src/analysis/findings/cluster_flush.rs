//! Finds changes in the set of CPUs that flush a cluster-sized cache.
//!
//! The figures do not show which CPU was the last man, and a single long flush is not conclusive.
//! But when the CPUs in a cluster go down together, only one of them can be the last man. If
//! several flushes take at least 4/5 as long as the cluster's longest one, CPUs other than the last
//! man also flush the cluster's cache.

use std::collections::BTreeMap;

use suite::measure::Metric;
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::based_finding::BasedFinding;
use crate::analysis::compare::{Change, Difference};

/// CPUs that started or stopped flushing their cluster's cache.
pub(crate) const FLUSH_OF_CLUSTER: Kind = Kind::new("flush-of-cluster");

/// The minimum ratio between the longest and the shortest flush at which the two cache sizes can be
/// told apart.
const CONTRAST: f64 = 4.0;

/// Describes the clusters in which CPUs other than the last man started or stopped flushing a
/// cluster-sized cache in a parallel round.
pub(super) fn cluster_flushes(
    &Difference { sides, scenarios }: &Difference<'_>,
) -> Vec<BasedFinding> {
    if sides.new.header.has_unknown_clusters {
        return Vec::new();
    }
    let flushes = |id| {
        let scenario = scenarios.iter().find(move |it| it.key.id == id);
        let changes = scenario.into_iter().flat_map(|it| &it.by_cpu);
        changes.filter(|it| it.key.suite_metric() == Some(Metric::CacheFlush))
    };
    let cluster = |it: &Change| sides.new.run.cpu(it.cpu).cluster;
    let together: Vec<&Change> = flushes(ScenarioId::SUSPEND_DEEP_PARALLEL).collect();
    let all: Vec<&Change> = flushes(ScenarioId::SUSPEND_DEEP_SERIAL)
        .chain(together.clone())
        .collect();
    let find = |(begins, verb)| {
        let few_and_many = |it: &Change| match begins {
            true => (it.old.figure, it.new.figure),
            false => (it.new.figure, it.old.figure),
        };
        // The reference times come from the side on which fewer CPUs flush, because the flushes on
        // the other side may be too similar.
        let sizes = sizes(all.iter().map(|it| (cluster(it), few_and_many(it).0)));
        let each = sizes.into_iter().filter_map(|(number, size)| {
            let own = together.iter().copied();
            let own: Vec<&Change> = own.filter(|it| cluster(it) == number).collect();
            let is_large = |flush: f64| usize::from(flush * 5.0 >= size * 4.0);
            let few: usize = own.iter().map(|it| is_large(few_and_many(it).0)).sum();
            let many: usize = own.iter().map(|it| is_large(few_and_many(it).1)).sum();
            let (then, now) = if begins { (few, many) } else { (many, few) };
            let text = format!("{now} of {} in cluster {number} (was {then})", own.len());
            (few <= 1 && many > 1).then_some((text, own))
        });
        let (texts, changes): (Vec<String>, Vec<Vec<&Change>>) = each.unzip();
        let sentence = format!(
            "CPUs other than the last man {verb} for flushing the whole cluster's cache: in one \
             parallel round {}, but a cluster can have only one last man.",
            texts.join(" and ")
        );
        let scenario = scenarios
            .iter()
            .find(|it| it.key.id == ScenarioId::SUSPEND_DEEP_PARALLEL)?;
        let (kind, of_changes) = (FLUSH_OF_CLUSTER, BasedFinding::of_changes);
        let changes = changes.concat();
        (!changes.is_empty()).then(|| of_changes(kind, sentence, scenario.key, &changes))
    };
    let directions = [(true, "now pay"), (false, "no longer pay")];
    directions.into_iter().filter_map(find).collect()
}

/// Returns each cluster's longest flush, if it is much longer than the shortest flush on any CPU.
fn sizes(flushes: impl Iterator<Item = (u16, f64)>) -> BTreeMap<u16, f64> {
    let (mut least, mut sizes) = (f64::MAX, BTreeMap::new());
    for (cluster, flush) in flushes {
        least = flush.min(least);
        let size: &mut f64 = sizes.entry(cluster).or_default();
        *size = size.max(flush);
    }
    sizes.retain(|_, size| least * CONTRAST <= *size);
    sizes
}
