//! How long flushes take whose extent is known: the CPU's own caches, or those of its cluster.
//!
//! At level 0, a CPU flushes only its own caches. In serial scenarios, only the lead is awake
//! besides the CPU that goes down, so the lead, and each CPU in another cluster, is the last one of
//! its cluster and flushes the cluster's caches.

use std::collections::HashMap;

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use suite::measure::Metric::CacheFlush;
use suite::plan::ScenarioId;

use super::suite_tables::{Column, CpuKind, SuiteTables, TableFigure};

/// If a cluster's flush takes less than this many times as long as a CPU's own, or less than
/// [`DIFFERENCE_NS`] nanoseconds longer, the difference may have another cause.
const CONTRAST: u64 = 4;
const DIFFERENCE_NS: u64 = 10_000;

/// A CPU's own flush may differ by this fraction from those at level 0 even if those are all the
/// same, because CPU_OFF and suspends to a deeper level reach it by other code.
const OTHER_CODE: u64 = 50;

/// The flush times that tell a cluster's flush from a CPU's own, and the lead.
#[derive(Debug)]
pub(super) struct FlushSizes {
    /// The lead.
    pub lead: CpuIndex,
    limits: HashMap<CpuKind, FlushLimits>,
}

/// The limits for one kind of CPU, in ticks. A flush outside of them may be either.
#[derive(Clone, Copy, Debug)]
struct FlushLimits {
    /// The shortest and longest that a flush of a CPU's own caches may take.
    own: (u64, u64),
    /// The shortest that a flush of its cluster's caches may take.
    cluster_least: u64,
}

/// What a flush covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlushExtent {
    Own,
    Cluster,
    Unclear,
}

impl FlushSizes {
    /// Returns the sizes; None if they are unknown or cannot be told apart. If no record identifies
    /// the lead, it is the only CPU that fits the tables.
    pub(super) fn of(tables: &SuiteTables<'_>) -> Option<Self> {
        if !tables.has_clusters() {
            return None;
        }
        if let Some(lead) = tables.logged.run.lead() {
            return Self::with_lead(tables, lead);
        }
        let candidates = tables.cpus().filter_map(|cpu| Self::with_lead(tables, cpu));
        let mut fitting = candidates.filter(|it| it.fit(tables));
        fitting.next().filter(|_| fitting.next().is_none())
    }

    fn with_lead(tables: &SuiteTables<'_>, lead: CpuIndex) -> Option<Self> {
        let is_last =
            |it: &TableFigure| it.cpu == lead || tables.cluster(it.cpu) != tables.cluster(lead);
        let serial = serial_columns(tables);
        let of_clusters = serial
            .iter()
            .flat_map(Column::figures)
            .filter(|it| is_last(it));
        let of_clusters = of_clusters.into_group_map_by(|it| tables.cluster(it.cpu));
        let level_0 = [
            ScenarioId::CPU_SUSPEND_SERIAL,
            ScenarioId::CPU_SUSPEND_PARALLEL,
        ];
        let level_0 = level_0.map(|id| tables.column(id, CacheFlush));
        let own = level_0.iter().flatten().flat_map(Column::figures);
        let own = own.into_group_map_by(|it| tables.kind(it.cpu));
        let kinds = tables.cpus().map(|cpu| tables.kind(cpu)).unique();
        let limits = kinds.map(|kind| {
            let of_cluster = of_clusters.get(&kind.0)?.iter().copied();
            let limits = FlushLimits::between(
                tables,
                tables.sample_range(own.get(&kind)?.iter().copied())?,
                tables.sample_range(of_cluster)?,
            )?;
            Some((kind, limits))
        });
        let limits = limits.collect::<Option<_>>()?;
        Some(Self { lead, limits })
    }

    /// Returns true if the tables show that the lead keeps its cluster on: the other CPUs in it
    /// flush only their own caches, in all serial scenarios except those in which all CPUs flush
    /// their cluster's.
    fn fit(&self, tables: &SuiteTables<'_>) -> bool {
        let is_twin = |it: &&TableFigure| {
            it.cpu != self.lead && tables.cluster(it.cpu) == tables.cluster(self.lead)
        };
        let columns = serial_columns(tables);
        let extents = columns.iter().map(|column| {
            let twins = column.figures().filter(is_twin);
            twins
                .map(|it| self.extent(tables, it))
                .all_equal_value()
                .ok()
        });
        let extents: Vec<Option<FlushExtent>> = extents.collect();
        let is_clear = |it: &Option<FlushExtent>| it.is_some_and(|it| it != FlushExtent::Unclear);
        extents.iter().all(is_clear) && extents.contains(&Some(FlushExtent::Own))
    }

    /// Returns what a flush covers.
    pub(super) fn extent(&self, tables: &SuiteTables<'_>, flush: &TableFigure) -> FlushExtent {
        match self.limits.get(&tables.kind(flush.cpu)) {
            Some(limits) if (limits.own.0..=limits.own.1).contains(&flush.ticks) => {
                FlushExtent::Own
            }
            Some(limits) if flush.ticks >= limits.cluster_least => FlushExtent::Cluster,
            _ => FlushExtent::Unclear,
        }
    }
}

impl FlushLimits {
    /// Returns the limits for the known ranges of both sizes; None if the sizes are too similar.
    /// A flush may be outside of its range by as much as flushes of one size vary.
    fn between(tables: &SuiteTables<'_>, own: (u64, u64), cluster: (u64, u64)) -> Option<Self> {
        let own_varies_by = (own.1 - own.0).max(own.1 / OTHER_CODE);
        let varies_by = own_varies_by.max(cluster.1 - cluster.0);
        let own_limits = (
            own.0.saturating_sub(own_varies_by),
            own.1.saturating_add(own_varies_by),
        );
        let cluster_least = cluster.0.saturating_sub(varies_by);
        let difference = tables.logged.ns(cluster.0.saturating_sub(own.1))?;
        let are_apart = own.0 > 0
            && own_limits.1 < cluster_least
            && cluster.0 / CONTRAST >= own.1
            && difference >= DIFFERENCE_NS;
        are_apart.then_some(Self {
            own: own_limits,
            cluster_least,
        })
    }
}

/// Returns the flushes in each serial scenario that ends in a deep state.
fn serial_columns(tables: &SuiteTables<'_>) -> Vec<Column> {
    let scenarios = [ScenarioId::SUSPEND_DEEP_SERIAL, ScenarioId::CPU_OFF_SERIAL].into_iter();
    let columns = scenarios.filter_map(|id| tables.column(id, CacheFlush));
    columns.collect()
}
