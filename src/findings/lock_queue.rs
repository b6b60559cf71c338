//! The lock queue: whether CPUs that go down together wait for each other.
//!
//! A straight line through Powerdown against the place in the order of going down.
//! A last man flushes its cluster's caches with the lock held: its Powerdown, and
//! that of all CPUs after it, include the flush, which is no step of the queue. So
//! flushes far longer than the round's others are subtracted, and named.
//!
//! Figures without timestamps are put in the order of their sizes, which makes any
//! line rise: the line then has to pass each of them within a tenth of its step.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::detail::Detail;
use super::words;
use crate::measure::{Line, Metric, lower_median};
use crate::model::{Confidence, CpuSet, Finding, Fit, Kind, Row, Run, Scenario};
use crate::plan::ScenarioId;
use crate::spec::prose::Plural;

/// The share of the variance, in percent, that a straight line must account for to be
/// called a queue of even steps.
const R2_EVEN: u8 = 90;
/// The least share to be called a queue at all.
const R2_SOME: u8 = 50;
/// A flush is a last man's, and no step of the queue, from more than this many times
/// the round's median on.
const FAR_LONGER: u64 = 2;

/// The instant at which a CPU went down, its index, and its Powerdown.
pub type Arrival = (u64, u16, u64);

/// Finds whether CPUs that go down together wait for each other, and how long.
pub(crate) fn lock_queue(run: &Run, scenario: &Scenario, detail: Detail) -> Option<Finding> {
    let by_stamps = scenario.has_order();
    let has_figures = scenario.has_pmf()
        && scenario.id.is_parallel()
        && scenario.id != ScenarioId::PsciVersionParallel;
    if !(by_stamps || has_figures && detail.is_full()) {
        return None;
    }
    let arrival = |row: &Row| {
        let powerdown = row.figures.powerdown?;
        let down = if by_stamps {
            row.went_down()?
        } else {
            powerdown
        };
        Some((down, row.cpu, powerdown))
    };
    let mut arrivals: Vec<Arrival> = scenario.rows.iter().filter_map(arrival).collect();
    arrivals.sort_unstable();
    let long = match by_stamps {
        true => without_long_flushes(scenario, &mut arrivals),
        false => CpuSet::default(),
    };
    let points = || (0..).zip(arrivals.iter().map(|it| it.2));
    let line = Line::through(points())?;
    let residual = detail.is_full().then(|| line.residual(points()));
    if !by_stamps && !is_even_by_figures(line, residual) {
        return None;
    }
    Some(Finding {
        kind: Kind::LockQueue,
        sentence: sentence(run, line, &arrivals, &long, (by_stamps, residual)),
        cpus: arrivals.iter().map(|it| it.1).collect(),
        metrics: vec![Metric::Powerdown],
        confidence: Confidence::Fit(Fit {
            n: line.n,
            r2_percent: line.r2_percent,
            residual_ns: residual.and_then(|ticks| run.clock().ns(ticks)),
            by_stamps,
        }),
    })
}

/// Returns the growth with each place; 0 if there is none.
fn step_of(line: Line) -> u64 {
    u64::try_from(line.slope).unwrap_or(0)
}

fn is_even_by_figures(line: Line, residual: Option<u64>) -> bool {
    let step = step_of(line);
    step > 0 && residual.is_some_and(|residual| residual.saturating_mul(10) <= step)
}

/// Writes the sentence, and more of them if the `residual` is given.
fn sentence(
    run: &Run,
    line: Line,
    arrivals: &[Arrival],
    long: &CpuSet,
    (by_stamps, residual): (bool, Option<u64>),
) -> String {
    let (n, r2, step) = (line.n, line.r2_percent, run.clock().span(step_of(line)));
    let order = match by_stamps {
        true => "ENTER_HW_LOW_PWR",
        false => "Powerdown",
    };
    let is_even = line.slope > 0 && (!by_stamps || r2 >= R2_EVEN);
    let mut text = if is_even {
        format!("Lock queue: powerdown grows by {step} with each place in the order of {order}")
    } else if line.slope > 0 && r2 >= R2_SOME {
        format!(
            "Lock queue: powerdown grows with the place in the order of {order}, though not \
             evenly: by {step} on average"
        )
    } else {
        format!(
            "No lock queue to be seen: powerdown does not grow with the place in the order of \
             {order}"
        )
    };
    text += &format!(" ({n} CPUs, R2 {r2} %)");
    if !long.is_empty() {
        let flushes = Plural(long.iter().count() as u64, "cache flush");
        let cpus = words::cpus(run, long.iter());
        text +=
            &format!(", without the longer {flushes} of CPU {cpus}, which those behind wait for");
    }
    text += ".";
    let Some(residual) = residual else {
        return text;
    };
    if is_even {
        text += " They go down one after another; no figure is farther from the line than ";
        text += &format!("{}.", run.clock().span(residual));
    }
    let cpus = words::cpus(run, arrivals.iter().map(|it| it.1));
    text += &format!(" In this order: CPU {cpus}.");
    if !by_stamps {
        text += " The order of arrival cannot be seen from figures alone.";
    }
    text
}

/// Subtracts long cache flushes from the Powerdown of their CPUs and of those after
/// them, and returns these CPUs. `arrivals` are in the order of their instants.
pub fn without_long_flushes(scenario: &Scenario, arrivals: &mut [Arrival]) -> CpuSet {
    let flush = |it: &Arrival| scenario.row(it.1)?.figures.cache_flush;
    let all: Option<Vec<u64>> = arrivals.iter().map(flush).collect();
    let mut long = CpuSet::default();
    let Some(flushes) = all else {
        return long;
    };
    let median = lower_median(&mut flushes.clone());
    let mut ahead = 0u64;
    for ((_, cpu, powerdown), flush) in arrivals.iter_mut().zip(flushes) {
        if flush > median.saturating_mul(FAR_LONGER) {
            ahead = ahead.saturating_add(flush - median);
            long.insert(*cpu);
        }
        *powerdown = powerdown.saturating_sub(ahead);
    }
    long
}
