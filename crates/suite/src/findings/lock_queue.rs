//! The lock queue: a straight line fitted to Powerdown against the position in power-down order. A
//! last man flushes its cluster's caches while it holds the lock, and that time is not part of the
//! queue. The finding therefore subtracts flushes that take far longer than the others in the
//! round, and lists their CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;
use hardware::text::plural::Plural;

use super::subject::{Subject, Verbosity};
use super::words;
use crate::measure::{FittedLine, Metric, lower_median, residual};
use crate::model::{Cell, CpuSet, Evidence, Finding, FitQuality, Kind, Run, Scenario};

/// CPUs that wait for one another.
pub const LOCK_QUEUE: Kind = Kind::new("lock-queue");

/// The minimum R2, in percent, for a queue with even steps.
const R2_EVEN: u8 = 90;
/// The minimum R2, in percent, for a queue.
const R2_SOME: u8 = 50;
/// A flush longer than this multiple of the round's median counts as a last man's flush, not as a
/// step in the queue.
const FAR_LONGER: u64 = 2;

/// The instant at which a CPU went down, its index, and its Powerdown time.
pub type Arrival = (u64, CpuIndex, u64);

/// Determines whether CPUs that go down together wait for one another, and for how long. This
/// requires timestamps, because nothing else shows the order in which CPUs go down.
pub(super) fn find_lock_queue(
    &Subject {
        run,
        scenario,
        verbosity,
    }: &Subject<'_>,
) -> Vec<Finding> {
    lock_queue(run, scenario, verbosity).into_iter().collect()
}

fn lock_queue(run: &Run, scenario: &Scenario, verbosity: Verbosity) -> Option<Finding> {
    if !scenario.has_order() {
        return None;
    }
    let arrival =
        |cell: &Cell| Some((cell.went_down()?, cell.cpu, cell.figure(Metric::Powerdown)?));
    let mut arrivals: Vec<Arrival> = scenario.cells.iter().filter_map(arrival).collect();
    arrivals.sort_unstable();
    let long = without_long_flushes(scenario, &mut arrivals);
    let points = || (0..).zip(arrivals.iter().map(|(_, _, powerdown)| *powerdown));
    let line = FittedLine::through(points())?;
    let residual = if verbosity.is_full() {
        residual(points())
    } else {
        None
    };
    let mut sentence = sentence(run, line, &long);
    if let Some(residual) = residual {
        if is_even(line) {
            let residual = run.clock().span(residual);
            sentence += &format!(
                " The CPUs go down one after another; all figures are within {residual} of the \
                 line."
            );
        }
        let cpus = words::cpus(run, arrivals.iter().map(|(_, cpu, _)| *cpu));
        sentence += &format!(" In this order: CPU {cpus}.");
    }
    Some(Finding {
        kind: LOCK_QUEUE,
        sentence,
        cpus: arrivals.iter().map(|(_, cpu, _)| *cpu).collect(),
        metrics: vec![Metric::Powerdown],
        evidence: Evidence::Fit(FitQuality {
            n: line.n,
            r2_percent: line.r2_percent,
            residual_ns: residual.and_then(|ticks| run.clock().ns(ticks)),
            by_stamps: true,
        }),
    })
}

fn is_even(line: FittedLine) -> bool {
    line.slope > 0 && line.r2_percent >= R2_EVEN
}

/// Returns true if the line fitted to Powerdown shows a queue, with even or uneven steps.
pub fn is_queue(line: FittedLine) -> bool {
    line.slope > 0 && line.r2_percent >= R2_SOME
}

fn sentence(run: &Run, line: FittedLine, long: &CpuSet) -> String {
    let (n, r2) = (line.n, u32::from(line.r2_percent));
    let step = run.clock().span(line.slope.try_into().unwrap_or(0));
    let order = "position in ENTER_HW_LOW_PWR order";
    let mut text = if is_even(line) {
        format!("Lock queue: powerdown grows by {step} with each {order}")
    } else if is_queue(line) {
        format!(
            "Lock queue: powerdown grows with the {order}, though not evenly: by {step} on average"
        )
    } else {
        format!("No visible lock queue: powerdown does not grow with the {order}")
    };
    text += &format!(" ({n} CPUs, R2 {r2} %)");
    if !long.is_empty() {
        let flushes = Plural(long.iter().count() as u64, "cache flush");
        let cpus = words::cpus(run, long.iter());
        text += &format!(", without the longer {flushes} of CPU {cpus}, for which later CPUs wait");
    }
    text + "."
}

/// Subtracts long cache flushes from the Powerdown times of their own CPUs and of all later CPUs,
/// and returns the CPUs that flush. `arrivals` must be in chronological order.
pub fn without_long_flushes(scenario: &Scenario, arrivals: &mut [Arrival]) -> CpuSet {
    let flush = |(_, cpu, _): &Arrival| scenario.cell(*cpu)?.figure(Metric::CacheFlush);
    let flushes: Option<Vec<u64>> = arrivals.iter().map(flush).collect();
    let mut long = CpuSet::default();
    let Some(flushes) = flushes else {
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
