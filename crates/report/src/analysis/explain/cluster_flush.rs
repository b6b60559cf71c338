//! Determines from flush times which CPUs flush their cluster's caches.

use hardware::board::CpuIndex;
use run::measure::Metric;
use run::plan::ScenarioId::{
    self, CpuOffSerial, CpuSuspendParallel, CpuSuspendSerial, SuspendDeepParallel,
    SuspendDeepSerial,
};

use super::suite_tables::{Column, Figure, SuiteTables};

/// All scenarios in which CPUs flush caches.
const FLUSHES: [ScenarioId; 5] = [
    SuspendDeepParallel,
    SuspendDeepSerial,
    CpuSuspendParallel,
    CpuSuspendSerial,
    CpuOffSerial,
];

/// The minimum ratio at which a flush covers more than a CPU's own caches.
const CONTRAST: u64 = 4;
/// The minimum difference from that flush, in nanoseconds: shorter ones are noise, or a larger core's
/// own caches.
const DIFFERENCE_NS: u64 = 10_000;

/// The cache flushes in one scenario.
pub(super) struct Flushes {
    column: Column,
    /// The CPUs that flush their cluster's caches.
    of_cluster: Vec<CpuIndex>,
}

impl Flushes {
    /// Returns the flushes in a scenario; None if its table is incomplete or a flush took no time
    /// at all.
    pub(super) fn of(tables: &SuiteTables<'_>, scenario: ScenarioId) -> Option<Self> {
        if !tables.has_clusters() {
            return None;
        }
        let column = tables.column(scenario, Metric::CacheFlush)?;
        let others = FLUSHES.into_iter();
        let others = others.filter_map(|it| tables.column(it, Metric::CacheFlush));
        let others: Vec<Column> = others.collect();
        let mut of_cluster = Vec::new();
        for cpu in tables.cpus() {
            let mine = tables.kind(cpu);
            // The shortest flush in a cluster only covers a CPU's own caches.
            let own = others.iter().flat_map(Column::figures);
            let own = own.filter(|it| tables.kind(it.cpu) == mine);
            let own = own.map(|it| it.ticks).min()?;
            if own == 0 {
                return None;
            }
            let flush = column.of(cpu);
            let more = tables.logged.ns(flush.saturating_sub(own))?;
            if flush / CONTRAST >= own && more >= DIFFERENCE_NS {
                of_cluster.push(cpu);
            }
        }
        Some(Self { column, of_cluster })
    }

    /// Returns true if the CPU flushes its cluster's caches.
    pub(super) fn is_of_cluster(&self, cpu: CpuIndex) -> bool {
        self.of_cluster.contains(&cpu)
    }

    /// Returns the cluster flushes.
    pub(super) fn large(&self) -> Vec<Figure> {
        self.column.filtered(|cpu| self.is_of_cluster(cpu))
    }

    /// Returns the flushes that only cover a CPU's own caches.
    pub(super) fn small(&self) -> Vec<Figure> {
        self.column.filtered(|cpu| !self.is_of_cluster(cpu))
    }

    /// Returns all flushes.
    pub(super) fn all(&self) -> Vec<Figure> {
        self.column.figures().copied().collect()
    }
}
