//! Delayed wake-ups. The first CPUs to wake up power up their cluster, and CPUs that wake up in the
//! meantime wait for the cluster's lock.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;

use super::sentence_parts;
use super::subject::{Subject, Verbosity};
use crate::measure::Metric;
use crate::model::{Cell, Evidence, Finding, FindingKind, Run, Scenario};

/// Wake-ups that took far longer than the shortest in their round.
pub const WAITED: FindingKind = FindingKind::new("waited");

/// A wake-up counts as delayed if it took longer than this multiple of the shortest one in the
/// round.
const FAR_LONGER: u64 = 3;

/// Finds the wake-ups that took far longer than the shortest in their round.
pub(super) fn find_waited(
    &Subject {
        run,
        scenario,
        verbosity,
    }: &Subject<'_>,
) -> Vec<Finding> {
    waited(run, scenario, verbosity).into_iter().collect()
}

fn waited(run: &Run, scenario: &Scenario, verbosity: Verbosity) -> Option<Finding> {
    let has_figures = verbosity.is_full() && scenario.has_pmf() && scenario.id.is_parallel();
    if !scenario.has_order() && !has_figures {
        return None;
    }
    let wakeup = |cell: &Cell| Some((cell.cpu, cell.figure(Metric::Wakeup)?));
    let wakeups: Vec<(CpuIndex, u64)> = scenario.cells.iter().filter_map(wakeup).collect();
    let (least, _) = sentence_parts::find_range(wakeups.iter().map(|(_, ticks)| *ticks))?;
    let limit = least.saturating_mul(FAR_LONGER);
    let (long, others): (Vec<_>, Vec<_>) = wakeups.iter().partition(|(_, ticks)| *ticks > limit);
    if least == 0 || long.is_empty() {
        return None;
    }
    let clock = run.clock();
    let long = long.iter().map(|(cpu, ticks)| {
        let (label, span) = (run.label(*cpu), clock.span(*ticks));
        format!("{label} ({span})")
    });
    let others = sentence_parts::find_range(others.iter().map(|(_, ticks)| *ticks))?;
    Some(Finding {
        kind: WAITED,
        sentence: format!(
            "Wake-ups that waited: CPU {}; the others took {}.",
            sentence_parts::list_first_few(long),
            clock.range(others)
        ),
        cpus: wakeups.iter().map(|(cpu, _)| *cpu).collect(),
        metrics: vec![Metric::Wakeup],
        evidence: Evidence::Figures,
    })
}
