//! The lock queue: whether CPUs that go down together wait for each other.
//!
//! A straight line through Powerdown against the place in the order of going
//! down. A last man flushes his cluster's caches with the lock held: he and all
//! behind him have that in their Powerdown, and it is no step of the queue. So
//! flushes far longer than the round's others are taken out by as much as they
//! are longer, and named.

use core::fmt::Write;

use super::item::{Found, has_order, item, went_down};
use super::limits::{self, R2_EVEN, R2_SOME};
use crate::measure::Line;
use crate::model::{Run, TestReport};
use crate::spec::prose::{Plural, listed};

/// A CPU's part of the queue, in ticks.
#[derive(Clone, Copy)]
struct Arrival {
    /// When it went down, and its index: no two are alike.
    key: (u64, u16),
    powerdown: u64,
    flush: Option<u64>,
}

fn arrivals<'t>(test: &'t TestReport<'_>) -> impl Iterator<Item = Arrival> + Clone + 't {
    test.rows.iter().filter_map(|row| {
        Some(Arrival {
            key: (went_down(row)?, row.cpu),
            powerdown: row.figures.powerdown?,
            flush: row.figures.cache_flush,
        })
    })
}

/// The lower median of the flushes; None where a CPU's is not known.
fn median(all: impl Iterator<Item = Arrival> + Clone) -> Option<u64> {
    let flushes = all.map(|it| it.flush);
    let middle = flushes.clone().count().checked_sub(1)? / 2;
    if flushes.clone().any(|it| it.is_none()) {
        return None;
    }
    // There is no room to sort them.
    flushes.clone().flatten().find(|mine| {
        let below = flushes.clone().flatten().filter(|it| it < mine).count();
        let at_most = flushes.clone().flatten().filter(|it| it <= mine).count();
        below <= middle && middle < at_most
    })
}

/// By how much a CPU's flush is far longer than the others.
fn excess(arrival: Arrival, median: Option<u64>) -> u64 {
    let known = arrival.flush.zip(median);
    known.map_or(0, |(flush, median)| limits::excess(flush, median))
}

/// Whether CPUs that go down together wait for each other, and how long.
pub(crate) fn write(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    if !has_order(test) {
        return Ok(false);
    }
    let all = arrivals(test);
    let median = median(all.clone());
    let points = all.clone().map(|me| {
        let (mut place, mut ahead) = (0, 0u64);
        for other in arrivals(test).filter(|other| other.key <= me.key) {
            place += u64::from(other.key < me.key);
            ahead = ahead.saturating_add(excess(other, median));
        }
        (place, me.powerdown.saturating_sub(ahead))
    });
    let Some(line) = Line::through(points) else {
        return Ok(false);
    };
    let long = all.filter(|it| excess(*it, median) > 0);
    let step = run.unit().span(u64::try_from(line.slope).unwrap_or(0));
    item(out, &mut |prose| {
        match line.r2_percent {
            R2_EVEN.. if line.slope > 0 => write!(
                prose,
                "Lock queue: powerdown grows by {step} with each place in the order of \
                 ENTER_HW_LOW_PWR"
            )?,
            R2_SOME.. if line.slope > 0 => write!(
                prose,
                "Lock queue: powerdown grows with the place in the order of \
                 ENTER_HW_LOW_PWR, though not evenly: by {step} on average"
            )?,
            _ => prose.write_str(
                "No lock queue to be seen: powerdown does not grow with the place in the \
                 order of ENTER_HW_LOW_PWR",
            )?,
        }
        write!(
            prose,
            " ({} CPUs, R2 {} %)",
            u64::from(line.n),
            u64::from(line.r2_percent)
        )?;
        match long.clone().count() {
            0 => {}
            count => {
                let flushes = Plural(count as u64, "cache flush");
                write!(prose, ", without the longer {flushes} of CPU ")?;
                listed(
                    prose,
                    &mut long.clone().map(|it| run.label(it.key.1.into())),
                )?;
                prose.write_str(", which those behind wait for")?;
            }
        }
        prose.write_str(".")
    })?;
    Ok(true)
}
