//! The memory that a plan needs, computed before the first scenario.

use super::measure::{Job, jobs};
use super::rows::RowState;
use super::states::Chosen;
use super::suite::{self, PLACEMENTS};
use super::{micro, sweep, timer_latency};
use crate::measure::{Histogram, METRICS, Outcome, REASONS, Reason};
use crate::model::{Cpu, Point, Row, Sample, Scenario, Statistic};
use crate::plan::{Plan, ScenarioId};
use crate::spec::bump;

/// Bytes for texts of the run: versions, names, and the buffers of lines.
const TEXT: usize = 8 << 10;
/// Bytes for the summary of one scenario.
const SUMMARY: usize = 512;
/// Bytes for the findings and the tables of one scenario, and more for each row and
/// each point of it.
const PRINTING: usize = 32 << 10;
const PRINTING_ROW: usize = 1024;
const PRINTING_POINT: usize = 288;

/// The memory that a plan needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of the heap.
    pub heap: usize,
    /// Tallies, of which each CPU has one or none.
    pub tallies: usize,
    /// Bytes for each CPU to write to, in whole pages.
    pub buffer: u64,
}

impl Needs {
    /// Computes the needs of `plan` on a board with so many CPUs and idle states; None
    /// if that overflows.
    pub fn of(plan: &Plan, cpus: usize, idle_states: usize) -> Option<Self> {
        let mut heap = 0;
        let (mut tallies, mut buffer) = (0, 0);
        for job in jobs(plan) {
            heap = heap.max(job_bytes(plan, job, cpus, idle_states)?);
            if job.id == ScenarioId::TimerLatency {
                (tallies, buffer) = (cpus, plan.timer.buffer());
            }
        }
        Some(Self {
            heap: lasting_bytes(plan, cpus, idle_states)?.checked_add(heap)?,
            tallies,
            buffer,
        })
    }
}

/// Returns the bytes of a list; none for an empty one.
fn list<T>(len: usize) -> Option<usize> {
    let bytes = size_of::<T>().checked_mul(len)?;
    bytes.checked_next_multiple_of(bump::ALIGN)
}

/// Returns the sum.
fn sum<const N: usize>(parts: [Option<usize>; N]) -> Option<usize> {
    let mut parts = parts.into_iter();
    parts.try_fold(0_usize, |sum, part| sum.checked_add(part?))
}

/// Returns the bytes that are in use in all scenarios.
fn lasting_bytes(plan: &Plan, cpus: usize, idle_states: usize) -> Option<usize> {
    let states = idle_states.checked_add(2)?;
    sum([
        Some(TEXT),
        list::<Cpu>(cpus),
        list::<Outcome>(cpus),
        list::<Chosen>(states),
        list::<[u32; 2]>(states),
        SUMMARY.checked_mul(jobs(plan).count()),
    ])
}

/// Returns the bytes of one scenario and of its results.
fn job_bytes(plan: &Plan, job: Job, cpus: usize, idle_states: usize) -> Option<usize> {
    let results = list::<Scenario>(PLACEMENTS);
    match job.id {
        id if id.is_suite() => sum([
            results,
            Some(PRINTING),
            bench_bytes(plan, cpus),
            rows_bytes(plan, cpus)?.checked_mul(suite::placements(id)),
        ]),
        id if id.is_sweep() => sum([
            results,
            bench_bytes(plan, cpus),
            list::<(Reason, u32)>(REASONS),
            points_bytes(sweep::points(id, plan, cpus, idle_states)?),
        ]),
        ScenarioId::TimerLatency => {
            let points = timer_latency::points(&plan.timer, cpus)?;
            let spread = list::<u32>(Histogram::default().counts().count())?;
            sum([
                results,
                list::<Outcome>(cpus),
                (points / 2).checked_mul(spread),
                points_bytes(points),
            ])
        }
        id => {
            let samples = match id {
                ScenarioId::CpuOn => plan.iterations,
                _ => plan.batches().1,
            };
            let columns = list::<u64>(samples as usize)?.checked_mul(2)?;
            sum([
                results,
                list::<Outcome>(cpus),
                list::<[alloc::vec::Vec<u64>; 2]>(cpus),
                columns.checked_mul(cpus),
                points_bytes(micro::points(id, cpus)?),
            ])
        }
    }
}

/// Returns the bytes of a [`super::bench::Bench`].
fn bench_bytes(plan: &Plan, cpus: usize) -> Option<usize> {
    let iterations = plan.iterations as usize;
    sum([
        list::<RowState>(cpus),
        list::<Outcome>(iterations)?.checked_mul(cpus),
        list::<Outcome>(cpus)?.checked_mul(2),
        list::<u64>(iterations.max(cpus)),
    ])
}

/// Returns the bytes of a scenario's rows, and to print them.
fn rows_bytes(plan: &Plan, cpus: usize) -> Option<usize> {
    let samples = if plan.samples { plan.iterations } else { 0 };
    let row = sum([
        list::<Statistic>(METRICS),
        list::<(Reason, u32)>(REASONS),
        list::<Sample>(samples as usize),
        Some(PRINTING_ROW),
    ])?;
    sum([list::<Row>(cpus), row.checked_mul(cpus)])
}

/// Returns the bytes of a scenario's points, and to print them.
fn points_bytes(points: usize) -> Option<usize> {
    sum([
        list::<Point>(points),
        PRINTING_POINT.checked_mul(points),
        Some(PRINTING),
    ])
}
