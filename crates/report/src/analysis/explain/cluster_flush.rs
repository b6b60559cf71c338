//! Uses flush times to determine which CPUs flush their cluster's caches.

use std::collections::HashMap;

use hardware::board::CpuIndex;
use run::measure::Metric;
use run::plan::ScenarioId::{
    self, CpuOffSerial, CpuSuspendParallel, CpuSuspendSerial, SuspendDeepParallel,
    SuspendDeepSerial,
};

use super::suite_tables::{Column, CpuKind, Figure, SuiteTables};

/// All the scenarios in which CPUs flush caches.
const FLUSHES: [ScenarioId; 5] = [
    SuspendDeepParallel,
    SuspendDeepSerial,
    CpuSuspendParallel,
    CpuSuspendSerial,
    CpuOffSerial,
];

/// A flush covers more than a CPU's own caches if it takes at least this many times as long as the
/// shortest flush.
const CONTRAST: u64 = 4;
/// The minimum difference, in nanoseconds, between the shortest flush and one that covers more than
/// a CPU's own caches. Smaller differences are noise or come from a larger core's own caches.
const DIFFERENCE_NS: u64 = 10_000;

/// The cache flushes in one scenario.
pub(super) struct Flushes {
    column: Column,
    /// The CPUs that flush their cluster's caches.
    of_cluster: Vec<CpuIndex>,
}

impl Flushes {
    /// Returns the flushes in a scenario; None if its table is incomplete or any flush time is
    /// zero.
    pub(super) fn of(tables: &SuiteTables<'_>, scenario: ScenarioId) -> Option<Self> {
        if !tables.has_clusters() {
            return None;
        }
        let column = tables.column(scenario, Metric::CacheFlush)?;
        let shortest = shortest_flushes(tables);
        let mut of_cluster = Vec::new();
        for flush in column.figures() {
            // The shortest flush covers only a CPU's own caches.
            let own = shortest[&tables.kind(flush.cpu)];
            if own == 0 {
                return None;
            }
            let more = tables.logged.ns(flush.ticks.saturating_sub(own))?;
            if flush.ticks / CONTRAST >= own && more >= DIFFERENCE_NS {
                of_cluster.push(flush.cpu);
            }
        }
        Some(Self { column, of_cluster })
    }

    /// Returns each serial scenario that ends in a deep state, with its flushes.
    pub(super) fn in_series(tables: &SuiteTables<'_>) -> impl Iterator<Item = (ScenarioId, Self)> {
        let scenarios = [SuspendDeepSerial, CpuOffSerial].into_iter();
        scenarios.filter_map(|id| Some((id, Self::of(tables, id)?)))
    }

    /// Returns true if the CPU flushes its cluster's caches.
    pub(super) fn is_of_cluster(&self, cpu: CpuIndex) -> bool {
        self.of_cluster.contains(&cpu)
    }

    /// Returns the cluster flushes.
    pub(super) fn large(&self) -> Vec<Figure> {
        self.column.filtered(|cpu| self.is_of_cluster(cpu))
    }

    /// Returns the flushes that cover only a CPU's own caches.
    pub(super) fn small(&self) -> Vec<Figure> {
        self.column.filtered(|cpu| !self.is_of_cluster(cpu))
    }

    /// Returns all flushes.
    pub(super) fn all(&self) -> Vec<Figure> {
        self.column.figures().copied().collect()
    }
}

/// Returns the shortest flush in any scenario for each kind of CPU.
fn shortest_flushes(tables: &SuiteTables<'_>) -> HashMap<CpuKind, u64> {
    let mut shortest = HashMap::new();
    for scenario in FLUSHES {
        let column = tables.column(scenario, Metric::CacheFlush);
        for flush in column.iter().flat_map(Column::figures) {
            let known = shortest.entry(tables.kind(flush.cpu)).or_insert(u64::MAX);
            *known = flush.ticks.min(*known);
        }
    }
    shortest
}
