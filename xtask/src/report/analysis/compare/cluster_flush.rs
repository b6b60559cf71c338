//! The CPUs that flush a cluster-size cache, then and now.
//!
//! Figures alone do not show which CPU was the last man, and a large flush is no
//! evidence of it. But two sizes can be compared, and of the CPUs of a cluster that
//! go down together only one is the last: if more than one of them flushes as much
//! as the cluster's largest flush, some do who are not last.

use std::collections::BTreeMap;

use psci_bench::measure::Metric;
use psci_bench::model::Kind;
use psci_bench::plan::ScenarioId::{self, SuspendDeepParallel, SuspendDeepSerial};

use super::change::Change;
use super::comparison::ComparedScenario;
use super::finding::ComparisonFinding;
use super::sides::Sides;
use crate::report::analysis::words::{cpus_text, durations_text};

/// The least ratio of the largest flush to the least at which sizes can be kept
/// apart.
const CONTRAST: f64 = 4.0;

/// Returns true for a flush of at least 4/5 of the cluster's largest.
fn is_of_cluster(flush: f64, size: f64) -> bool {
    flush * 5.0 >= size * 4.0
}

/// Describes CPUs that are not the last man and begin or cease to flush a cluster-size
/// cache.
pub(super) fn cluster_flushes(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
) -> Vec<ComparisonFinding> {
    let of = |begins| Flushes {
        sides,
        scenarios,
        begins,
    };
    let find = |begins| {
        let flushes = of(begins);
        let sizes = flushes.sizes();
        [flushes.together(&sizes), flushes.in_sequence(&sizes)]
    };
    [true, false].into_iter().flat_map(find).flatten().collect()
}

/// The cache flushes of both sides.
struct Flushes<'s> {
    sides: &'s Sides<'s>,
    scenarios: &'s [ComparedScenario],
    /// True for CPUs that begin to flush; false for those that cease to.
    begins: bool,
}

impl<'s> Flushes<'s> {
    /// Returns the changes of Cache Flush by CPU in the first scenario with this ID.
    fn changes(&self, id: ScenarioId) -> impl Iterator<Item = &'s Change> {
        let scenario = self.scenarios.iter().find(|it| it.key.id == id);
        let changes = scenario.into_iter().flat_map(|it| &it.by_cpu);
        changes.filter(|it| it.key.metric() == Some(Metric::CacheFlush))
    }

    fn cluster(&self, change: &Change) -> u16 {
        self.sides.new.run.cpu(change.cpu).cluster
    }

    /// Returns the figures of the side on which fewer CPUs flush, and of the other.
    fn few_and_many(&self, change: &Change) -> (f64, f64) {
        match self.begins {
            true => (change.old.figure, change.new.figure),
            false => (change.new.figure, change.old.figure),
        }
    }

    /// Returns the largest flush of each cluster, if it is far more than the least of
    /// all: on the side on which fewer CPUs flush, as the other may have no contrast.
    fn sizes(&self) -> BTreeMap<u16, f64> {
        let (mut least, mut sizes) = (f64::MAX, BTreeMap::new());
        let all = [SuspendDeepParallel, SuspendDeepSerial].into_iter();
        for change in all.flat_map(|id| self.changes(id)) {
            let flush = self.few_and_many(change).0;
            least = flush.min(least);
            let size: &mut f64 = sizes.entry(self.cluster(change)).or_default();
            *size = size.max(flush);
        }
        sizes.retain(|_, size| least * CONTRAST <= *size);
        sizes
    }

    fn finding(&self, id: ScenarioId, text: String, all: &[&Change]) -> Option<ComparisonFinding> {
        let scenario = self.scenarios.iter().find(|it| it.key.id == id)?;
        let (kind, of_changes) = (Kind::FlushOfCluster, ComparisonFinding::of_changes);
        (!all.is_empty()).then(|| of_changes(self.sides, kind, text, scenario.key, all))
    }

    fn verb(&self) -> &'static str {
        if self.begins {
            "now pay"
        } else {
            "no longer pay"
        }
    }

    /// Describes the clusters in which more than one CPU of a parallel round flushes on
    /// one side alone.
    fn together(&self, sizes: &BTreeMap<u16, f64>) -> Option<ComparisonFinding> {
        let each = sizes.iter().filter_map(|(number, size)| {
            let own = self.changes(SuspendDeepParallel);
            let own: Vec<&Change> = own.filter(|it| self.cluster(it) == *number).collect();
            let is_large = |flush: f64| usize::from(is_of_cluster(flush, *size));
            let then: usize = own.iter().map(|it| is_large(it.old.figure)).sum();
            let now: usize = own.iter().map(|it| is_large(it.new.figure)).sum();
            let (few, many) = if self.begins {
                (then, now)
            } else {
                (now, then)
            };
            let text = format!(
                "{now} of {} in cluster {number} (before: {then})",
                own.len()
            );
            (few <= 1 && many > 1).then_some((text, own))
        });
        let (texts, changes): (Vec<String>, Vec<Vec<&Change>>) = each.unzip();
        let sentence = format!(
            "CPUs that are not last man {} a cluster-size cache flush: in one parallel round {}, \
             of which only one can be the last in each.",
            self.verb(),
            texts.join(" and ")
        );
        self.finding(SuspendDeepParallel, sentence, &changes.concat())
    }

    /// Describes the CPUs that flush in sequence on one side alone.
    fn in_sequence(&self, sizes: &BTreeMap<u16, f64>) -> Option<ComparisonFinding> {
        let is_found = |it: &&Change| {
            let (few, many) = self.few_and_many(it);
            let size = sizes.get(&self.cluster(it));
            size.is_some_and(|size| few * 2.0 < *size && is_of_cluster(many, *size))
        };
        let changes: Vec<&Change> = self.changes(SuspendDeepSerial).filter(is_found).collect();
        let run = &self.sides.new.run;
        let sentence = format!(
            "CPUs {} a cluster-size cache flush in sequence: {} flushed for {} before, and for {} \
             now. Figures alone do not show whether they are last man.",
            self.verb(),
            cpus_text(run, changes.iter().map(|it| it.cpu)),
            durations_text(run, changes.iter().map(|it| it.old.figure)),
            durations_text(run, changes.iter().map(|it| it.new.figure))
        );
        self.finding(SuspendDeepSerial, sentence, &changes)
    }
}
