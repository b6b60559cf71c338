//! Attempts that do not count, lost CPUs, and timer expiries that were missed.

use alloc::format;
use alloc::vec::Vec;

use hardware::text::plural::Many;

use super::words;
use crate::measure::{Metric, Reason};
use crate::model::{Finding, How, Kind, Point, Run, Scenario};
use crate::plan::Procedure;

/// Finds the attempts that do not count, the reasons, and the CPUs.
pub(crate) fn not_counted(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let rows = scenario.rows.iter();
    let rejected = rows.filter_map(|row| Some((row.cpu, row.attempts.as_ref()?)));
    let rejected: Vec<_> = rejected.filter(|it| !it.1.rejected.is_empty()).collect();
    let mut all = 0;
    let each = Reason::ALL.into_iter().filter_map(|reason| {
        let here = rejected.iter().filter(|it| it.1.rejected_for(reason) > 0);
        let counts = here.clone().map(|it| u64::from(it.1.rejected_for(reason)));
        let (total, key) = (counts.sum::<u64>(), reason.key());
        all += total;
        let cpus = words::cpus(run, here.map(|it| it.0));
        (total > 0).then(|| format!("{total} {key} (CPU {cpus})"))
    });
    let each = each.collect::<Vec<_>>().join(", ");
    if all == 0 {
        return None;
    }
    // A companion is never the cause: it only shared the round.
    let first = rejected.iter().find_map(|(cpu, attempts)| {
        let first = attempts.first.filter(|it| it.reason != Reason::Companion)?;
        Some(format!("; the first on CPU {}: {first}", run.label(*cpu)))
    });
    let (attempts, first) = (Many(all, "attempt"), first.unwrap_or_default());
    let sentence = format!("Not counted: {attempts}: {each}{first}.");
    let cpus = rejected.iter().map(|it| it.0);
    Some(Finding::by_counts(Kind::NotCounted, sentence, cpus))
}

pub(crate) fn lost(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let rows = scenario.rows.iter();
    let lost = rows.filter_map(|row| Some((row.cpu, row.lost?)));
    let (cpu, loss) = lost.clone().next()?;
    let mpidr = run.cpu(cpu).mpidr.map(|it| format!(" (MPIDR {it:#x})"));
    let (label, mpidr) = (run.label(cpu), mpidr.unwrap_or_default());
    let mut others = words::cpus(run, lost.clone().skip(1).map(|it| it.0));
    if !others.is_empty() {
        others = format!("; so was CPU {others}");
    }
    // A CPU is off for sure only if CPU_ON failed.
    let sentence = format!(
        "CPU {label}{mpidr} was lost: {loss}{others}. A lost CPU may be on, and keep its cluster on, \
         so that the others in it do not flush it."
    );
    let cpus = lost.map(|it| it.0);
    Some(Finding::by_counts(Kind::Lost, sentence, cpus))
}

/// Finds that more than a tenth of the expiries were overruns: a result, and no failure.
pub(crate) fn overruns(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let all = |point: &Point| u64::from(point.figures.n) + point.lost;
    let has_many = |point: &&Point| {
        scenario.id.procedure() == Procedure::Timers
            && point.measure == Metric::Handler
            && point.lost * 10 > all(point)
    };
    let many = scenario.points.iter().filter(has_many);
    // By the share: no stretch has 2^32 expiries.
    let is_worse = |a: &Point, b: &Point| a.lost * all(b) > b.lost * all(a);
    let worst = many.clone();
    let worst = worst.reduce(|worst, it| if is_worse(it, worst) { it } else { worst })?;
    let is_alone = worst.how == How::Alone;
    let how = if is_alone {
        "alone"
    } else {
        "all CPUs at once"
    };
    let (cpu, lost, all) = (run.label(worst.cpu), worst.lost, all(worst));
    let word = worst.variant.word();
    let sentence = format!(
        "Overruns: on CPU {cpu} {lost} of {all} expiries were missed ({how}, {word}); min, median \
         and max are of the others only."
    );
    let cpus = many.map(|point| point.cpu);
    Some(Finding::by_counts(Kind::Overruns, sentence, cpus))
}
