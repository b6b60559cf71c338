//! Flush times by extent: the CPU's own caches, or those of its cluster.
//!
//! At level 0, a CPU flushes only its own caches. In serial scenarios, only the lead is awake
//! besides the CPU that goes down. The lead, and each CPU in another cluster, is therefore the last
//! one down in its cluster and flushes the cluster's caches.

use std::collections::HashMap;

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use suite::measure::Metric::CacheFlush;
use suite::plan::ScenarioId;

use super::suite_tables::{Column, CpuKind, SuiteTables, TableFigure};
use crate::analysis::findings::FLUSH_CONTRAST;

/// The minimum difference between a cluster's flush and a CPU's own, in nanoseconds.
const DIFFERENCE_NS: u64 = 10_000;

/// The divisor of the longest flush at level 0 that yields by how much a CPU's own flush may differ
/// elsewhere. CPU_OFF and suspends to a deeper level reach the flush through other code.
const OTHER_CODE: u64 = 50;

/// The flush times that distinguish a cluster's flush from a CPU's own, and the lead.
///
/// Holding one proves that clusters and lead are known, and that for each kind of CPU both extents
/// are known and differ enough. It does not prove that every flush falls within the limits:
/// [`Self::extent`] may still be unclear.
#[derive(Debug)]
pub(super) struct FlushSizes {
    /// The lead.
    pub lead: CpuIndex,
    limits: HashMap<CpuKind, FlushLimits>,
}

/// The limits for one kind of CPU, in ticks. The extent of a flush outside these limits is unclear.
#[derive(Clone, Copy, Debug)]
struct FlushLimits {
    /// The minimum and maximum for a flush of a CPU's own caches.
    own: (u64, u64),
    /// The minimum for a flush of its cluster's caches.
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
    /// Returns the sizes; None if they are unknown or too similar. If no record identifies the
    /// lead, it is inferred if exactly one CPU fits the tables.
    pub(super) fn of(tables: &SuiteTables<'_>) -> Option<Self> {
        if !tables.has_clusters() {
            return None;
        }
        if let Some(lead) = tables.logged.run.lead() {
            return Self::with_lead(tables, lead);
        }
        let mut candidates = tables
            .cpus()
            .filter_map(|cpu| Self::with_lead(tables, cpu))
            .filter(|sizes| sizes.fit(tables));
        candidates.next().filter(|_| candidates.next().is_none())
    }

    /// Returns the sizes under the assumption that `lead` is the lead.
    fn with_lead(tables: &SuiteTables<'_>, lead: CpuIndex) -> Option<Self> {
        let is_last = |flush: &&TableFigure| {
            flush.cpu == lead || tables.cluster(flush.cpu) != tables.cluster(lead)
        };
        let serial = serial_columns(tables);
        let cluster_flushes = serial
            .iter()
            .flat_map(Column::figures)
            .filter(is_last)
            .into_group_map_by(|flush| tables.cluster(flush.cpu));
        let level_0 = [
            ScenarioId::CPU_SUSPEND_SERIAL,
            ScenarioId::CPU_SUSPEND_PARALLEL,
        ]
        .map(|id| tables.column(id, CacheFlush));
        let core_flushes = level_0
            .iter()
            .flatten()
            .flat_map(Column::figures)
            .into_group_map_by(|flush| tables.kind(flush.cpu));
        let kinds = tables.cpus().map(|cpu| tables.kind(cpu)).unique();
        let limits = kinds.map(|kind| {
            let kind_cluster_flushes = cluster_flushes.get(&kind.0)?.iter().copied();
            let limits = FlushLimits::between(
                tables,
                tables.sample_range(core_flushes.get(&kind)?.iter().copied())?,
                tables.sample_range(kind_cluster_flushes)?,
            )?;
            Some((kind, limits))
        });
        Some(Self {
            lead,
            limits: limits.collect::<Option<_>>()?,
        })
    }

    /// Returns true if the tables show that the lead keeps its cluster on: the other CPUs in it
    /// flush only their own caches, in all serial scenarios except those in which all CPUs flush
    /// their cluster's.
    fn fit(&self, tables: &SuiteTables<'_>) -> bool {
        let is_twin = |flush: &&TableFigure| {
            flush.cpu != self.lead && tables.cluster(flush.cpu) == tables.cluster(self.lead)
        };
        // None if the twins' flushes differ in extent.
        let twin_extents = serial_columns(tables)
            .iter()
            .map(|column| {
                column
                    .figures()
                    .filter(is_twin)
                    .map(|flush| self.extent(tables, flush))
                    .all_equal_value()
                    .ok()
            })
            .collect_vec();
        let are_clear = twin_extents
            .iter()
            .all(|extent| extent.is_some_and(|extent| extent != FlushExtent::Unclear));
        are_clear && twin_extents.contains(&Some(FlushExtent::Own))
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
            && cluster.0 / FLUSH_CONTRAST >= own.1
            && difference >= DIFFERENCE_NS;
        are_apart.then_some(Self {
            own: own_limits,
            cluster_least,
        })
    }
}

/// Returns the flushes in each serial scenario that ends in a deep state.
fn serial_columns(tables: &SuiteTables<'_>) -> Vec<Column> {
    [ScenarioId::SUSPEND_DEEP_SERIAL, ScenarioId::CPU_OFF_SERIAL]
        .into_iter()
        .filter_map(|id| tables.column(id, CacheFlush))
        .collect()
}
