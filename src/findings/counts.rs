//! Attempts that do not count, and lost CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::words;
use crate::measure::Reason;
use crate::model::new::{Confidence, Finding, Kind, Run, Scenario};
use crate::spec::prose::Many;

/// Finds the attempts that do not count, the reasons, and the CPUs.
pub(crate) fn not_counted(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let rows = || {
        let rows = scenario.rows.iter();
        rows.filter_map(|row| Some((row.cpu, row.attempts.as_ref()?)))
    };
    let mut all = 0;
    let mut each = Vec::new();
    for reason in Reason::ALL {
        let here = || rows().filter(|(_, attempts)| attempts.rejected_for(reason) > 0);
        let counts = here().map(|(_, attempts)| u64::from(attempts.rejected_for(reason)));
        let total: u64 = counts.sum();
        if total > 0 {
            all += total;
            let cpus = words::cpus(run, here().map(|it| it.0));
            each.push(format!("{total} {} (CPU {cpus})", reason.key()));
        }
    }
    if all == 0 {
        return None;
    }
    // A companion is never the cause: it only shared the round.
    let first = rows().find_map(|(cpu, attempts)| {
        let first = attempts.first?;
        (first.reason != Reason::Companion).then_some((cpu, first))
    });
    let first = first.map_or_else(String::new, |(cpu, first)| {
        format!("; the first on CPU {}: {first}", run.label(cpu))
    });
    let attempts = Many(all, "attempt");
    let each = each.join(", ");
    let rejected = rows().filter(|(_, attempts)| attempts.rejected_total() > 0);
    Some(Finding {
        kind: Kind::NotCounted,
        sentence: format!("Not counted: {attempts}: {each}{first}."),
        cpus: rejected.map(|it| it.0).collect(),
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
        sentence += &format!("; and CPU {others}");
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
