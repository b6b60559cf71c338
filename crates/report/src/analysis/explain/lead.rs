//! The lead, as identified by records, or inferred from flushes if only one CPU fits the tables.

use hardware::board::CpuIndex;
use itertools::Itertools as _;

use super::cluster_flush::Flushes;
use super::suite_tables::SuiteTables;

/// A run's lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lead {
    /// The CPU.
    pub cpu: CpuIndex,
    /// True if no record identifies the lead.
    pub is_inferred: bool,
}

impl Lead {
    /// Returns a sentence saying that the lead was inferred; empty if records identify it.
    pub(super) fn remark(self) -> &'static str {
        match self.is_inferred {
            true => " The lead is inferred: no other CPU fits these tables.",
            false => "",
        }
    }
}

/// Returns the lead; None if it is unknown.
///
/// The lead is inferred from serial scenarios, in which only two CPUs are awake: the lead, and the
/// CPU that goes down. Because the lead keeps its cluster on, the other CPUs in that cluster flush
/// only their own caches. All remaining CPUs, and the lead itself, flush their cluster's caches.
/// Each table must either show this pattern, with the same lead, or contain only cluster flushes.
pub(super) fn lead(tables: &SuiteTables<'_>) -> Option<Lead> {
    if let Some(cpu) = tables.logged.run.lead() {
        return Some(Lead {
            cpu,
            is_inferred: false,
        });
    }
    let mut leads = Vec::new();
    for (_, flushes) in Flushes::in_series(tables) {
        if flushes.small().is_empty() {
            continue;
        }
        leads.push(lead_by_flushes(tables, &flushes)?);
    }
    let cpu = leads.into_iter().all_equal_value().ok()?;
    Some(Lead {
        cpu,
        is_inferred: true,
    })
}

/// Returns the only CPU that can be the lead, judging by the flushes in a serial scenario.
pub(super) fn lead_by_flushes(tables: &SuiteTables<'_>, flushes: &Flushes) -> Option<CpuIndex> {
    let small = flushes.small();
    let mut clusters = small.iter().map(|it| tables.cluster(it.cpu));
    let cluster = clusters.all_equal_value().ok()?;
    let is_of_it = |cpu: &CpuIndex| tables.cluster(*cpu) == cluster;
    let is_large = |cpu: &CpuIndex| flushes.is_of_cluster(*cpu);
    let in_it = tables.cpus().filter(is_of_it).filter(is_large);
    in_it.exactly_one().ok()
}
