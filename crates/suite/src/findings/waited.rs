//! Delayed wake-ups. The first CPUs to wake up power up their cluster, and CPUs that wake up in the
//! meantime wait for the cluster's lock.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::subject::{Subject, Verbosity};
use super::words;
use crate::measure::Metric;
use crate::model::{Cell, Evidence, Finding, Kind, Run, Scenario};

/// Wake-ups that took far longer than the shortest in their round.
pub const WAITED: Kind = Kind::new("waited");

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
    let wakeup = |cell: &Cell| Some((cell.figure(Metric::Wakeup)?, cell.cpu));
    let all: Vec<_> = scenario.cells.iter().filter_map(wakeup).collect();
    let least = all.iter().map(|it| it.0).min().filter(|least| *least > 0)?;
    let limit = least.saturating_mul(FAR_LONGER);
    let (long, others): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.0 > limit);
    if long.is_empty() {
        return None;
    }
    let clock = run.clock();
    let each = long.iter();
    let each = each.map(|(ticks, cpu)| format!("{} ({})", run.label(*cpu), clock.span(*ticks)));
    let each = words::list(each);
    let others = clock.range(words::range(others.iter().map(|it| it.0))?);
    Some(Finding {
        kind: WAITED,
        sentence: format!("Wake-ups that waited: CPU {each}; the others took {others}."),
        cpus: all.iter().map(|it| it.1).collect(),
        metrics: vec![Metric::Wakeup],
        evidence: Evidence::Figures,
    })
}
