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
use super::limits::{self, R2_EVEN, R2_SOME};
use super::words;
use crate::measure::{Line, Metric, lower_median};
use crate::model::{Confidence, CpuSet, Finding, Fit, Kind, Run, Scenario};
use crate::plan::ScenarioId;
use crate::spec::prose::{Plural, append};

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
    let mut arrivals: Vec<Arrival> = Vec::with_capacity(scenario.rows.len());
    for row in &scenario.rows {
        let down = if by_stamps {
            row.went_down()
        } else {
            row.figures.powerdown
        };
        if let (Some(down), Some(powerdown)) = (down, row.figures.powerdown) {
            let arrival = (down, row.cpu, powerdown);
            let place = arrivals.partition_point(|it| *it < arrival);
            arrivals.insert(place, arrival);
        }
    }
    let long = if by_stamps {
        without_long_flushes(scenario, &mut arrivals)
    } else {
        CpuSet::default()
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

fn is_even_by_figures(line: Line, residual: Option<u64>) -> bool {
    let step = u64::try_from(line.slope).unwrap_or(0);
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
    let clock = run.clock();
    let step = clock.span(u64::try_from(line.slope).unwrap_or(0));
    let order = if by_stamps {
        "ENTER_HW_LOW_PWR"
    } else {
        "Powerdown"
    };
    let is_even = line.slope > 0 && (!by_stamps || line.r2_percent >= R2_EVEN);
    let mut sentence = match line.r2_percent {
        _ if is_even => {
            format!("Lock queue: powerdown grows by {step} with each place in the order of {order}")
        }
        R2_SOME.. if line.slope > 0 => format!(
            "Lock queue: powerdown grows with the place in the order of {order}, though not \
             evenly: by {step} on average"
        ),
        _ => format!(
            "No lock queue to be seen: powerdown does not grow with the place in the order of \
             {order}"
        ),
    };
    append(
        &mut sentence,
        format_args!(" ({} CPUs, R2 {} %)", line.n, line.r2_percent),
    );
    if !long.is_empty() {
        append(
            &mut sentence,
            format_args!(
                ", without the longer {} of CPU {}, which those behind wait for",
                Plural(long.iter().count() as u64, "cache flush"),
                words::cpus(run, long.iter())
            ),
        );
    }
    sentence += ".";
    let Some(residual) = residual else {
        return sentence;
    };
    if is_even {
        append(
            &mut sentence,
            format_args!(
                " They go down one after another; no figure is farther from the line than {}.",
                clock.span(residual)
            ),
        );
    }
    let cpus = words::cpus(run, arrivals.iter().map(|it| it.1));
    append(&mut sentence, format_args!(" In this order: CPU {cpus}."));
    if !by_stamps {
        sentence += " The order of arrival cannot be seen from figures alone.";
    }
    sentence
}

/// Subtracts long cache flushes from the Powerdown of their CPUs and of those after
/// them, and returns these CPUs. `arrivals` are in the order of
/// their instants.
#[must_use]
pub fn without_long_flushes(scenario: &Scenario, arrivals: &mut [Arrival]) -> CpuSet {
    let flush = |cpu: u16| scenario.row(cpu)?.figures.cache_flush;
    let all: Option<Vec<u64>> = arrivals.iter().map(|it| flush(it.1)).collect();
    let mut long = CpuSet::default();
    let Some(flushes) = all else {
        return long;
    };
    let median = lower_median(&mut flushes.clone());
    let mut ahead = 0u64;
    for ((_, cpu, powerdown), flush) in arrivals.iter_mut().zip(flushes) {
        let excess = limits::excess(flush, median);
        if excess > 0 {
            ahead = ahead.saturating_add(excess);
            long.insert(*cpu);
        }
        *powerdown = powerdown.saturating_sub(ahead);
    }
    long
}
