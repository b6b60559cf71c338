//! Uses flush times to determine which CPUs flush their cluster's caches.

use hardware::board::CpuIndex;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use super::flush_sizes::{FlushExtent, FlushSizes};
use super::suite_tables::{Column, SuiteTables, TableFigure};

/// The cache flushes in one scenario.
///
/// Holding one proves that the table has a flush for each CPU, and that the extent of each flush is
/// known. It does not prove that any CPU flushed its cluster's caches.
pub(super) struct Flushes {
    column: Column,
    /// The CPUs that flush their cluster's caches.
    cluster_cpus: Vec<CpuIndex>,
}

impl Flushes {
    /// Returns the flushes in a scenario; None if its table is incomplete, or if the extent of any
    /// flush is unclear.
    pub(super) fn of(tables: &SuiteTables<'_>, scenario: ScenarioId) -> Option<Self> {
        let sizes = FlushSizes::of(tables)?;
        let column = tables.column(scenario, Metric::CacheFlush)?;
        let mut cluster_cpus = Vec::new();
        for flush in column.figures() {
            match sizes.extent(tables, flush) {
                FlushExtent::Own => {}
                FlushExtent::Cluster => cluster_cpus.push(flush.cpu),
                FlushExtent::Unclear => return None,
            }
        }
        Some(Self {
            column,
            cluster_cpus,
        })
    }

    /// Returns the flushes of those `scenarios` that have a table; None if the extent of any flush
    /// in them is unclear.
    pub(super) fn of_each(
        tables: &SuiteTables<'_>,
        scenarios: &[ScenarioId],
    ) -> Option<Vec<(ScenarioId, Self)>> {
        scenarios
            .iter()
            .filter(|id| tables.column(**id, Metric::CacheFlush).is_some())
            .map(|id| Some((*id, Self::of(tables, *id)?)))
            .collect()
    }

    /// Returns the flushes of each serial scenario that ends in a deep state, as [`Self::of_each`]
    /// does.
    pub(super) fn in_series(tables: &SuiteTables<'_>) -> Option<Vec<(ScenarioId, Self)>> {
        Self::of_each(
            tables,
            &[ScenarioId::SUSPEND_DEEP_SERIAL, ScenarioId::CPU_OFF_SERIAL],
        )
    }

    /// Returns true if the CPU flushes its cluster's caches.
    pub(super) fn is_of_cluster(&self, cpu: CpuIndex) -> bool {
        self.cluster_cpus.contains(&cpu)
    }

    /// Returns the cluster flushes.
    pub(super) fn large(&self) -> Vec<TableFigure> {
        self.column.filtered(|cpu| self.is_of_cluster(cpu))
    }

    /// Returns the flushes that cover only a CPU's own caches.
    pub(super) fn small(&self) -> Vec<TableFigure> {
        self.column.filtered(|cpu| !self.is_of_cluster(cpu))
    }

    /// Returns all flushes.
    pub(super) fn all(&self) -> Vec<TableFigure> {
        self.column.figures().copied().collect()
    }
}
