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

use super::sentence_parts;
use super::subject::{Subject, Verbosity};
use crate::measure::{FittedLine, Metric, lower_median, residual};
use crate::model::{Cell, CpuSet, Evidence, Finding, FindingKind, FitQuality, Run, Scenario};

/// CPUs that wait for one another.
pub const LOCK_QUEUE: FindingKind = FindingKind::new("lock-queue");

/// The minimum R2, in percent, for a queue with even steps.
const R2_EVEN: u8 = 90;
/// The minimum R2, in percent, for a queue.
const R2_SOME: u8 = 50;
/// A flush longer than this multiple of the round's median counts as a last man's flush, not as a
/// step in the queue.
const FAR_LONGER: u64 = 2;

/// A CPU that went down together with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// The counter value at which it went down.
    pub at: u64,
    /// The CPU that went down.
    pub cpu: CpuIndex,
    /// Its Powerdown figure in ticks.
    pub powerdown: u64,
    /// The part of that figure without the long cache flushes of this CPU and of earlier ones.
    pub queued: u64,
}

/// The CPUs of a scenario in the order in which they went down, and the line fitted to their
/// Powerdown.
#[derive(Debug)]
pub struct LockQueue {
    /// The CPUs, first down first.
    pub arrivals: Vec<Arrival>,
    /// The CPUs with long cache flushes.
    pub long_flushes: CpuSet,
    /// The line fitted to [`Arrival::queued`].
    pub line: FittedLine,
}

impl LockQueue {
    /// Fits the line. Returns None if timestamps do not show the order, or if no line fits.
    pub fn fit(scenario: &Scenario) -> Option<Self> {
        if !scenario.has_order() {
            return None;
        }
        let arrival = |cell: &Cell| {
            let powerdown = cell.figure(Metric::Powerdown)?;
            Some(Arrival {
                at: cell.went_down()?,
                cpu: cell.cpu,
                powerdown,
                queued: powerdown,
            })
        };
        let mut arrivals: Vec<Arrival> = scenario.cells.iter().filter_map(arrival).collect();
        arrivals.sort_unstable();
        let long_flushes = subtract_long_flushes(scenario, &mut arrivals);
        Some(Self {
            line: FittedLine::through(points(&arrivals))?,
            arrivals,
            long_flushes,
        })
    }

    /// Returns true if the line shows a queue, with even or uneven steps.
    pub fn is_queue(&self) -> bool {
        self.line.slope > 0 && self.line.r2_percent >= R2_SOME
    }

    fn is_even(&self) -> bool {
        self.line.slope > 0 && self.line.r2_percent >= R2_EVEN
    }
}

/// Returns each position in the queue, with the CPU's figure.
fn points(arrivals: &[Arrival]) -> impl Iterator<Item = (u64, u64)> + Clone {
    (0..).zip(arrivals.iter().map(|arrival| arrival.queued))
}

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
    let queue = LockQueue::fit(scenario)?;
    let residual = if verbosity.is_full() {
        residual(points(&queue.arrivals))
    } else {
        None
    };
    let mut sentence = sentence(run, &queue);
    let cpus = || queue.arrivals.iter().map(|arrival| arrival.cpu);
    if let Some(residual) = residual {
        if queue.is_even() {
            let residual = run.clock().span(residual);
            sentence += &format!(
                " The CPUs go down one after another; all figures are within {residual} of the \
                 line."
            );
        }
        sentence += &format!(
            " In this order: CPU {}.",
            sentence_parts::list_cpus(run, cpus())
        );
    }
    Some(Finding {
        kind: LOCK_QUEUE,
        sentence,
        cpus: cpus().collect(),
        metrics: vec![Metric::Powerdown],
        evidence: Evidence::Fit(FitQuality {
            n: queue.line.n,
            r2_percent: queue.line.r2_percent,
            residual_ns: residual.and_then(|ticks| run.clock().ns(ticks)),
            by_stamps: true,
        }),
    })
}

fn sentence(run: &Run, queue: &LockQueue) -> String {
    let (n, r2) = (queue.line.n, u32::from(queue.line.r2_percent));
    let step = run.clock().span(queue.line.slope.try_into().unwrap_or(0));
    let order = "position in ENTER_HW_LOW_PWR order";
    let mut text = if queue.is_even() {
        format!("Lock queue: powerdown grows by {step} with each {order}")
    } else if queue.is_queue() {
        format!(
            "Lock queue: powerdown grows with the {order}, though not evenly: by {step} on average"
        )
    } else {
        format!("No visible lock queue: powerdown does not grow with the {order}")
    };
    text += &format!(" ({n} CPUs, R2 {r2} %)");
    let long = &queue.long_flushes;
    if !long.is_empty() {
        let flushes = Plural(long.iter().count() as u64, "cache flush");
        let cpus = sentence_parts::list_cpus(run, long.iter());
        text += &format!(", without the longer {flushes} of CPU {cpus}, for which later CPUs wait");
    }
    text + "."
}

/// Subtracts long cache flushes from what their own CPUs and all later CPUs queued, and returns the
/// CPUs that flush. `arrivals` must be in chronological order.
fn subtract_long_flushes(scenario: &Scenario, arrivals: &mut [Arrival]) -> CpuSet {
    let flush = |arrival: &Arrival| scenario.cell(arrival.cpu)?.figure(Metric::CacheFlush);
    let flushes: Option<Vec<u64>> = arrivals.iter().map(flush).collect();
    let mut long = CpuSet::default();
    let Some(flushes) = flushes else {
        return long;
    };
    let median = lower_median(&mut flushes.clone());
    let mut ahead = 0u64;
    for (arrival, flush) in arrivals.iter_mut().zip(flushes) {
        if flush > median.saturating_mul(FAR_LONGER) {
            ahead = ahead.saturating_add(flush - median);
            long.insert(arrival.cpu);
        }
        arrival.queued = arrival.powerdown.saturating_sub(ahead);
    }
    long
}
