//! Lost CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::sentence_parts;
use super::subject::Subject;
use crate::model::{Finding, FindingKind};

/// CPUs that were lost.
pub const LOST: FindingKind = FindingKind::new("lost");

/// Finds the CPUs that were lost, and the consequences for the others.
pub(super) fn find_lost(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let lost = || {
        let cells = scenario.suite_cells().iter();
        cells.filter_map(|cell| Some((cell.cpu, cell.lost?)))
    };
    let Some((cpu, loss)) = lost().next() else {
        return Vec::new();
    };
    let mpidr = match run.cpu(cpu).mpidr {
        Some(mpidr) => format!(" (MPIDR {mpidr})"),
        None => String::new(),
    };
    let label = run.label(cpu);
    let mut others = sentence_parts::list_cpus(run, lost().skip(1).map(|(cpu, _)| cpu));
    if !others.is_empty() {
        others = format!("; also lost: CPU {others}");
    }
    // The CPU is known to be off only if CPU_ON failed.
    let sentence = format!(
        "CPU {label}{mpidr} was lost: {loss}{others}. A lost CPU may be on and keep its cluster \
         on, so the others do not flush the cluster."
    );
    let cpus = lost().map(|(cpu, _)| cpu);
    [Finding::by_counts(LOST, sentence, cpus)].into()
}
