//! Durations so short that the counter's resolution matters.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;
use hardware::spec::ticks::Hundredths;
use hardware::text::plural::Plural;

use super::sentence_parts;
use super::subject::{Subject, Verbosity};
use crate::measure::Metric;
use crate::model::{Cell, Evidence, Finding, FindingKind, Run, Scenario};

/// Durations so short that the counter's resolution matters.
pub(super) const RESOLUTION: FindingKind = FindingKind::new("resolution");

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
    let mut figures: Vec<u64> = run
        .scenarios
        .iter()
        .flat_map(Scenario::all_series)
        .filter_map(|series| series.series.shown.filter(|figure| *figure > 0))
        .collect();
    figures.sort_unstable();
    figures.dedup();
    let divisor = figures.iter().copied().fold(0, gcd);
    (figures.len() >= DIFFERENT_MIN && divisor > 1).then_some(divisor)
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
    let tick = if run.has_records() {
        Some(1)
    } else {
        tick_ns(run)
    };
    scenario
        .columns()
        .into_iter()
        .filter_map(|metric| of_column(run, scenario, verbosity, (metric, tick?)))
        .collect()
}

fn of_column(
    run: &Run,
    scenario: &Scenario,
    verbosity: Verbosity,
    (metric, tick): (Metric, u64),
) -> Option<Finding> {
    let ticks = |cell: &Cell| {
        let ticks = cell.figure(metric)? / tick;
        (ticks > 0).then_some((cell.cpu, ticks))
    };
    let figures: Vec<(CpuIndex, u64)> = scenario.cells.iter().filter_map(ticks).collect();
    let range = sentence_parts::find_range(figures.iter().map(|(_, ticks)| *ticks))?;
    let (least @ ..COARSE, most) = range else {
        return None;
    };
    let to = if most > least {
        format!(" to {most}")
    } else {
        String::new()
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
        cpus: figures.iter().map(|(cpu, _)| *cpu).collect(),
        metrics: vec![metric],
        evidence: if run.has_records() {
            Evidence::Counts
        } else {
            Evidence::Figures
        },
    })
}
