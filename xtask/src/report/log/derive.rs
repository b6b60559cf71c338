//! Figures of rows that have no record of their own, by other records of the
//! same CPU: these have checksums too.

use psci_bench::measure::Metric;
use psci_bench::plan::ScenarioId;

use crate::report::model::{Point, Row, Term, Test};

/// Finds the figures of rows without; the number of those whose record was
/// lost, and of which others tell all that it did.
pub(super) fn figures(test: &mut Test) -> u32 {
    if test.pmf.unwrap_or_else(|| has_stamps(test)) {
        of_stamps(test)
    } else {
        of_the_callers_side(test);
        0
    }
}

/// The figures that PMF's timestamps make.
const OF_STAMPS: [Metric; 4] = [
    Metric::Powerdown,
    Metric::Wakeup,
    Metric::CacheFlush,
    Metric::Latency,
];

/// Whether anything of the test is of PMF's timestamps, where its own record
/// does not say so. Rows have no other figures.
fn has_stamps(test: &Test) -> bool {
    let is_of_them = |metric: &Term<Metric>| OF_STAMPS.iter().any(|it| metric.is(*it));
    let has = |row: &Row| {
        let stamped = row.event.iter().any(|event| {
            let mut points = Point::ALL.into_iter();
            points.any(|it| matches!(it, Point::Stamp(_)) && event.at(it).is_some())
        });
        stamped || !row.figures.is_empty() || row.summaries.iter().any(|it| is_of_them(&it.0))
    };
    test.rows.iter().any(has)
}

/// A figure that the row's record had: in parallel that of the round that is
/// shown, of which the instants are; in sequence the median.
fn figure(row: &Row, metric: Metric, parallel: bool) -> Option<u64> {
    if parallel {
        return row.event.as_ref()?.figure(metric);
    }
    let summary = row.summary(&Term::Known(metric));
    summary.map(|summary| summary.median)
}

fn of_stamps(test: &mut Test) -> u32 {
    let parallel = test.is_parallel();
    let shown = test.columns();
    let of_call = test.scenario.is(ScenarioId::PsciVersionParallel);
    // What a row has: as others do, or else as the scenario's calls have.
    let has = |it: &Metric| match shown.as_slice() {
        [] if of_call => *it == Metric::Latency,
        [] => {
            let any = test
                .rows
                .iter()
                .any(|row| figure(row, *it, parallel).is_some());
            *it != Metric::Latency && any
        }
        shown => shown.contains(&Term::Known(*it)),
    };
    let metrics: Vec<Metric> = OF_STAMPS.into_iter().filter(has).collect();
    let mut count = 0;
    for row in &mut test.rows {
        if !row.figures.is_empty() || metrics.is_empty() {
            continue;
        }
        let of = |metric: &Metric| Some((Term::Known(*metric), figure(row, *metric, parallel)?));
        // All of them or none: a row is verified or it is not.
        if let Some(figures) = metrics.iter().map(of).collect() {
            row.figures = figures;
            row.verified = true;
            count += 1;
        }
    }
    count
}

/// Rows hold PMF's figures alone: where there are none, the caller's are
/// shown, and so is what a later scenario has statistics of.
fn of_the_callers_side(test: &mut Test) {
    use Metric::{Call, Lateness, TurnOff, TurnOn, Wake};
    let parallel = test.is_parallel();
    for row in &mut test.rows {
        let known = [TurnOff, TurnOn, Call, Wake].map(Term::Known);
        let has = |metric: &Term<Metric>| row.summaries.iter().any(|it| it.0 == *metric);
        let later = row.summaries.iter().map(|it| it.0.clone());
        let later = later.filter(|it| !known.contains(it) && !it.is(Lateness));
        let metrics: Vec<_> = known
            .iter()
            .filter(|metric| has(metric))
            .cloned()
            .chain(later)
            .collect();
        for metric in metrics {
            let shown = match (&row.event, metric.known()) {
                (Some(event), Some(known)) if parallel => event.figure(known),
                _ => row.summary(&metric).map(|summary| summary.median),
            };
            row.figures.extend(shown.map(|ticks| (metric, ticks)));
        }
        row.verified = !row.figures.is_empty();
    }
}
