//! The lead: stated by records, or inferred from flushes if no other CPU fits the tables.

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use run::plan::ScenarioId::{CpuOffSerial, SuspendDeepSerial};

use super::cluster_flush::Flushes;
use super::suite_tables::SuiteTables;

/// The lead of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lead {
    /// The CPU.
    pub cpu: CpuIndex,
    /// True if no record states it.
    pub is_inferred: bool,
}

impl Lead {
    /// Returns the sentence about how the lead is known; empty if records state it.
    pub(super) fn remark(self) -> &'static str {
        match self.is_inferred {
            true => " The lead is inferred: no other CPU fits these tables.",
            false => "",
        }
    }
}

/// Returns the lead; None if it is unknown.
///
/// It is inferred from serial scenarios, in which only the lead is awake besides the CPU that goes
/// down. The other CPUs of its cluster then flush only their own caches, and all other CPUs,
/// including the lead itself, those of their cluster. Each table either shows this pattern, with
/// the same lead, or has flushes of clusters alone.
pub(super) fn lead(tables: &SuiteTables<'_>) -> Option<Lead> {
    if let Some(cpu) = tables.logged.run.lead() {
        return Some(Lead {
            cpu,
            is_inferred: false,
        });
    }
    let all = [SuspendDeepSerial, CpuOffSerial].into_iter();
    let all = all.filter_map(|id| Flushes::of(tables, id));
    let mut leads = Vec::new();
    for flushes in all {
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

/// Returns the only CPU that can be the lead if these are the flushes of a serial scenario.
pub(super) fn lead_by_flushes(tables: &SuiteTables<'_>, flushes: &Flushes) -> Option<CpuIndex> {
    let small = flushes.small();
    let mut clusters = small.iter().map(|it| tables.cluster(it.cpu));
    let cluster = clusters.all_equal_value().ok()?;
    let is_of_it = |cpu: &CpuIndex| tables.cluster(*cpu) == cluster;
    let is_large = |cpu: &CpuIndex| flushes.is_of_cluster(*cpu);
    let in_it = tables.cpus().filter(is_of_it).filter(is_large);
    in_it.exactly_one().ok()
}
