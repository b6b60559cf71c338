//! Lost CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::subject::Subject;
use super::words;
use crate::model::{Finding, Kind};

/// CPUs that were lost.
pub const LOST: Kind = Kind::new("lost");

/// Finds the CPUs that were lost, and the consequences for the others.
pub(super) fn find_lost(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let cells = scenario.suite_cells().iter();
    let lost = cells.filter_map(|cell| Some((cell.cpu, cell.lost?)));
    let Some((cpu, loss)) = lost.clone().next() else {
        return Vec::new();
    };
    let mpidr = run.cpu(cpu).mpidr;
    let mpidr = mpidr.map_or_else(String::new, |it| format!(" (MPIDR {it})"));
    let label = run.label(cpu);
    let mut others = words::cpus(run, lost.clone().skip(1).map(|it| it.0));
    if !others.is_empty() {
        others = format!("; also lost: CPU {others}");
    }
    // The CPU is known to be off only if CPU_ON failed.
    let sentence = format!(
        "CPU {label}{mpidr} was lost: {loss}{others}. A lost CPU may be on and keep its cluster \
         on, so the others do not flush the cluster."
    );
    let cpus = lost.map(|it| it.0);
    [Finding::by_counts(LOST, sentence, cpus)].into()
}
