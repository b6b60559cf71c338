//! Attempts that do not count, and lost CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::words;
use crate::measure::Reason;
use crate::model::{Confidence, CpuSet, Finding, Kind, Run, Scenario};
use crate::spec::prose::{Many, append};

/// Finds the attempts that do not count, the reasons, and the CPUs.
pub(crate) fn not_counted(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let rejected: Vec<_> = scenario
        .rows
        .iter()
        .filter_map(|row| Some((row.cpu, row.attempts.as_ref()?)))
        .filter(|(_, attempts)| !attempts.rejected.is_empty())
        .collect();
    let (mut all, mut each) = (0, String::new());
    for reason in Reason::ALL {
        let mut total = 0;
        let mut here = CpuSet::default();
        for (cpu, attempts) in &rejected {
            let count = attempts.rejected_for(reason);
            if count > 0 {
                total += u64::from(count);
                here.insert(*cpu);
            }
        }
        if total > 0 {
            let mark = if all > 0 { ", " } else { "" };
            let (key, cpus) = (reason.key(), words::cpus(run, here.iter()));
            append(&mut each, format_args!("{mark}{total} {key} (CPU {cpus})"));
            all += total;
        }
    }
    if all == 0 {
        return None;
    }
    let attempts = Many(all, "attempt");
    let mut sentence = format!("Not counted: {attempts}: {each}");
    // A companion is never the cause: it only shared the round.
    for (cpu, attempts) in &rejected {
        if let Some(first) = attempts.first.filter(|it| it.reason != Reason::Companion) {
            let cpu = run.label(*cpu);
            append(
                &mut sentence,
                format_args!("; the first on CPU {cpu}: {first}"),
            );
            break;
        }
    }
    sentence += ".";
    Some(Finding {
        kind: Kind::NotCounted,
        sentence,
        cpus: rejected.iter().map(|it| it.0).collect(),
        metrics: Vec::new(),
        confidence: Confidence::Counts,
    })
}

/// Finds the CPUs that were lost.
pub(crate) fn lost(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let lost = || {
        let rows = scenario.rows.iter();
        rows.filter_map(|row| Some((row.cpu, row.lost?)))
    };
    let (cpu, loss) = lost().next()?;
    let mpidr = run.cpu(cpu).mpidr;
    let mpidr = mpidr.map_or_else(String::new, |mpidr| format!(" (MPIDR {mpidr:#x})"));
    let mut sentence = format!("Lost: CPU {}{mpidr}: {loss}", run.label(cpu));
    if lost().nth(1).is_some() {
        let others = words::cpus(run, lost().skip(1).map(|it| it.0));
        append(&mut sentence, format_args!("; and CPU {others}"));
    }
    // A CPU is off for sure only if CPU_ON failed.
    sentence += ". A CPU that is lost may be on, and keep up its cluster, so that others in it do \
                 not flush it.";
    Some(Finding {
        kind: Kind::Lost,
        sentence,
        cpus: lost().map(|it| it.0).collect(),
        metrics: Vec::new(),
        confidence: Confidence::Counts,
    })
}
