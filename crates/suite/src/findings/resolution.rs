//! Durations so short that the counter's resolution matters.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hardware::spec::ticks::Hundredths;
use hardware::text::plural::Plural;

use super::subject::{Subject, Verbosity};
use super::words;
use crate::measure::Metric;
use crate::model::{Cell, Evidence, Finding, Kind, Run, Scenario};

/// Durations so short that the counter's resolution matters.
pub(super) const RESOLUTION: Kind = Kind::new("resolution");

/// Below this number of ticks, a figure's resolution is worth reporting: one tick is more than 2 %
/// of the figure, and 2 % is the tolerance for comparisons with TF-A's tables.
const COARSE: u64 = 50;
/// Below this number of ticks, one tick is more than a tenth of the figure.
const TOO_FEW: u64 = 10;
/// With at least this many different figures, a common divisor is unlikely to be a coincidence.
const DIFFERENT_MIN: usize = 8;

/// Returns the length of a run's tick in nanoseconds: the counter's tick, rounded up, or, if the
/// run has only figures, their greatest common divisor.
pub fn tick_ns(run: &Run) -> Option<u64> {
    if run.has_records() {
        let tick = run.clock().tick_ps()?;
        return Some(tick.div_ceil(1000).max(1));
    }
    let series = run.scenarios.iter().flat_map(Scenario::all_series);
    let figures = series.filter_map(|it| it.series.shown);
    let mut all: Vec<u64> = figures.filter(|figure| *figure > 0).collect();
    all.sort_unstable();
    all.dedup();
    let divisor = all.iter().copied().fold(0, gcd);
    (all.len() >= DIFFERENT_MIN && divisor > 1).then_some(divisor)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Finds durations so short that the counter's resolution matters.
pub(super) fn find_resolution(
    &Subject {
        run,
        scenario,
        verbosity,
    }: &Subject<'_>,
) -> Vec<Finding> {
    // In a run without records, figures are in nanoseconds.
    let tick = match run.has_records() {
        true => Some(1),
        false => tick_ns(run),
    };
    let columns = scenario.columns().into_iter();
    let found = columns.filter_map(|metric| of_column(run, scenario, verbosity, (metric, tick?)));
    found.collect()
}

fn of_column(
    run: &Run,
    scenario: &Scenario,
    verbosity: Verbosity,
    (metric, tick): (Metric, u64),
) -> Option<Finding> {
    let cells = scenario.cells.iter();
    let ticks = |cell: &Cell| Some((cell.figure(metric)? / tick, cell.cpu));
    let all: Vec<_> = cells.filter_map(ticks).filter(|it| it.0 > 0).collect();
    let (least @ ..COARSE, most) = words::range(all.iter().map(|it| it.0))? else {
        return None;
    };
    let to = match most > least {
        true => format!(" to {most}"),
        false => String::new(),
    };
    let (name, ticks, percent) = (metric.heading(), Plural(most, "tick"), 100 / least);
    let length = match run.clock().tick_ps() {
        _ if !run.has_records() => format!(" of {tick} ns, inferred from the figures"),
        Some(ps) => format!(" of {} ns", Hundredths(ps / 10)),
        None => String::new(),
    };
    let more = if !verbosity.is_full() || least >= TOO_FEW {
        ""
    } else if scenario.id.is_suite() && !scenario.id.is_suspend() {
        " Measure many calls in a loop to get the cost of one."
    } else {
        " This counter is too coarse for times this short."
    };
    Some(Finding {
        kind: RESOLUTION,
        sentence: format!(
            "Resolution: {name} is {least}{to} {ticks}{length}; one tick is {percent} % of the \
             minimum.{more}"
        ),
        cpus: all.iter().map(|it| it.1).collect(),
        metrics: vec![metric],
        evidence: match run.has_records() {
            true => Evidence::Counts,
            false => Evidence::Figures,
        },
    })
}
