//! The lock queue: whether CPUs that go down together wait for each other.
//!
//! A straight line through Powerdown against the place in the order in which
//! CPUs went down. Where timestamps give that order, the words and limits are
//! the payload's. Where there are figures alone they are put in the order of
//! their sizes, which makes any line rise: there the line has to pass each of
//! them within a tenth of its step.
//!
//! A last man flushes his cluster's caches with the lock held: he and all behind
//! him have that in their Powerdown, and it is no step of the queue. Where
//! timestamps give the order, flushes far longer than the round's others are
//! taken out by as much as they are longer, and named.

use psci_bench::findings::limits::{R2_EVEN, R2_SOME, excess};
use psci_bench::measure::{Line, Metric};
use psci_bench::plan::ScenarioId;

use super::finding::{Confidence, Finding, Fit, Kind, Side, basis};
use super::last_man::DOWN;
use crate::report::model::words::{cpus, span};
use crate::report::model::{Row, Run, Term, Test};
use crate::setup::plural::plural;

/// A CPU's place in time, its index, and its Powerdown.
pub(in crate::report) type Arrival = (u64, usize, u64);

pub(super) fn queue(run: &Run, test: &Test) -> Vec<Finding> {
    if test.pmf == Some(false)
        || !test.is_parallel()
        || test.scenario.is(ScenarioId::PsciVersionParallel)
    {
        return Vec::new();
    }
    let powerdown = |row: &Row| row.figure(&Term::Known(Metric::Powerdown));
    let stamped = |row: &Row| Some((row.event.as_ref()?.counter(DOWN)?, row.cpu, powerdown(row)?));
    let by_stamps = test.rows.iter().any(|row| row.event.is_some());
    let arrivals: Vec<Arrival> = if by_stamps {
        test.rows.iter().filter_map(stamped).collect()
    } else {
        let figures = test.rows.iter();
        figures
            .filter_map(|row| Some((powerdown(row)?, row.cpu, powerdown(row)?)))
            .collect()
    };
    fitted(run, test, arrivals, by_stamps).into_iter().collect()
}

fn fitted(run: &Run, test: &Test, mut arrivals: Vec<Arrival>, by_stamps: bool) -> Option<Finding> {
    arrivals.sort_unstable();
    let long = if by_stamps {
        without_long_flushes(test, &mut arrivals)
    } else {
        Vec::new()
    };
    let places = || (0u64..).zip(arrivals.iter().map(|it| it.2));
    let line = Line::through(places())?;
    let residual = residual(&places().collect::<Vec<_>>());
    let step = span(run, u64::try_from(line.slope).unwrap_or(0));
    let order = if by_stamps {
        "ENTER_HW_LOW_PWR"
    } else {
        "Powerdown"
    };
    let is_even = if by_stamps {
        line.r2_percent >= R2_EVEN
    } else {
        line.slope > 0 && residual.saturating_mul(10) <= u64::try_from(line.slope).unwrap_or(0)
    };
    let mut sentence = match line.r2_percent {
        _ if is_even && line.slope > 0 => {
            format!("Lock queue: powerdown grows by {step} with each place in the order of {order}")
        }
        _ if !by_stamps => return None,
        R2_SOME.. if line.slope > 0 => format!(
            "Lock queue: powerdown grows with the place in the order of {order}, though not \
             evenly: by {step} on average"
        ),
        _ => format!(
            "No lock queue to be seen: powerdown does not grow with the place in the order of \
             {order}"
        ),
    };
    sentence.push_str(&format!(" ({} CPUs, R2 {} %)", line.n, line.r2_percent));
    if !long.is_empty() {
        sentence.push_str(&format!(
            ", without the longer {} of {}, which those behind wait for",
            plural(long.len(), "cache flush"),
            cpus(run, long.into_iter())
        ));
    }
    sentence.push('.');
    if is_even && line.slope > 0 {
        sentence.push_str(&format!(
            " They go down one after another; no figure is farther from the line than {}.",
            span(run, residual)
        ));
    }
    sentence.push_str(&format!(
        " In this order: {}.",
        cpus(run, arrivals.iter().map(|it| it.1))
    ));
    if !by_stamps {
        sentence.push_str(" That of arrival can not be told from figures alone.");
    }
    let row = |it: &Arrival| basis(Side::Run, run, test, it.1, Some(Metric::Powerdown));
    Some(Finding {
        kind: Kind::LockQueue,
        sentence,
        basis: arrivals.iter().map(row).collect(),
        confidence: Confidence::Fit(Fit {
            n: line.n,
            r2_percent: line.r2_percent,
            residual_ns: run.ns(residual),
            by_stamps,
        }),
    })
}

/// Takes long cache flushes out of the Powerdown of their CPUs and of those
/// behind them; whose they are. `arrivals` are in the order of their instants.
pub(in crate::report) fn without_long_flushes(test: &Test, arrivals: &mut [Arrival]) -> Vec<usize> {
    let flush = |cpu: usize| test.row(cpu)?.figure(&Term::Known(Metric::CacheFlush));
    let all: Option<Vec<u64>> = arrivals.iter().map(|it| flush(it.1)).collect();
    let Some(flushes) = all else {
        return Vec::new();
    };
    let median = psci_bench::measure::lower_median(&mut flushes.clone());
    let mut ahead = 0u64;
    let mut long = Vec::new();
    for (arrival, flush) in arrivals.iter_mut().zip(flushes) {
        let more = excess(flush, median);
        if more > 0 {
            ahead = ahead.saturating_add(more);
            long.push(arrival.1);
        }
        arrival.2 = arrival.2.saturating_sub(ahead);
    }
    long
}

/// The greatest distance of a point from the line of least squares, in y.
fn residual(points: &[(u64, u64)]) -> u64 {
    let n = points.len() as f64;
    let points = points.iter().map(|(x, y)| (*x as f64, *y as f64));
    let (sx, sy) = points
        .clone()
        .fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let (mx, my) = (sx / n, sy / n);
    let (sxx, sxy) = points.clone().fold((0.0, 0.0), |sum, (x, y)| {
        (sum.0 + (x - mx) * (x - mx), sum.1 + (x - mx) * (y - my))
    });
    let slope = sxy / sxx;
    let far = points.map(|(x, y)| (y - my - slope * (x - mx)).abs());
    far.fold(0.0, f64::max).round() as u64
}
