//! The memory that a plan needs, computed before the first scenario. No sum overflows:
//! iterations, loops and CPUs are limited.

use alloc::vec::Vec;

use run::measure::{Histogram, Outcome, REASONS, Reason};
use run::model::{Cpu, Point, Row, Samples, Scenario, Statistic, scenarios};
use run::plan::{Plan, Procedure, ScenarioId};

use super::point_bench::MEASURES;
use super::rows::{METRICS_MAX, RowState};
use super::states::Chosen;
use super::steps;
use super::suite::{self, PLACEMENTS};

/// Bytes for texts of the run: versions, names, and the buffers of lines.
const TEXT: usize = 8 << 10;
/// Bytes for the summary of one scenario.
const SUMMARY: usize = 768;
/// Bytes to print one scenario, and more for each row and each point of it.
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
    /// Computes the needs of `plan` on a board with so many CPUs and idle states.
    #[must_use]
    pub fn of(plan: &Plan, cpus: usize, idle_states: usize) -> Self {
        let scenarios = scenarios(plan).map(|key| scenario_bytes(plan, key.id, cpus, idle_states));
        let has_timers = plan
            .scenarios
            .iter()
            .any(|id| id.procedure() == Procedure::Timers);
        let (tallies, buffer) = match has_timers {
            true => (cpus, plan.timer.buffer()),
            false => (0, 0),
        };
        Self {
            heap: lasting_bytes(plan, cpus, idle_states) + scenarios.max().unwrap_or(0),
            tallies,
            buffer,
        }
    }
}

/// Bytes to which the heap rounds the size of each block up.
pub const BLOCK: usize = 16;

/// Returns the bytes of a list; none for an empty one.
const fn list<T>(len: usize) -> usize {
    (size_of::<T>() * len).next_multiple_of(BLOCK)
}

fn lasting_bytes(plan: &Plan, cpus: usize, idle_states: usize) -> usize {
    let states = 2 * list::<Chosen>(idle_states + 2)
        + 3 * list::<u32>(idle_states + 2)
        + list::<(u32, usize)>(idle_states + 2)
        + list::<u32>(idle_states);
    let of_cpus = list::<Cpu>(cpus) + list::<Outcome>(cpus);
    TEXT + of_cpus + states + SUMMARY * scenarios(plan).count()
}

fn scenario_bytes(plan: &Plan, id: ScenarioId, cpus: usize, idle_states: usize) -> usize {
    let cells = plan.cells(id, cpus, idle_states);
    let reasons = list::<(Reason, u32)>(REASONS);
    let measured = match id.procedure() {
        Procedure::Suspend(..) | Procedure::CpuOff | Procedure::Version => {
            bench_bytes(plan, cpus) + rows_bytes(plan, cpus) * suite::placements(id) + PRINTING
        }
        Procedure::Steps => {
            bench_bytes(plan, cpus) + reasons + points_bytes(steps::PER_CPU * cells)
        }
        Procedure::Timers => {
            let spread = list::<u32>(Histogram::default().counts().count());
            point_bench_bytes(cpus, 0) + cells * spread + points_bytes(MEASURES * cells)
        }
        Procedure::Loop | Procedure::CpuOn => {
            let samples = match id.procedure() {
                Procedure::CpuOn => plan.iterations,
                _ => plan.batches().1,
            };
            point_bench_bytes(cpus, samples) + reasons + points_bytes(MEASURES * cells)
        }
    };
    list::<Scenario>(PLACEMENTS) + measured
}

fn bench_bytes(plan: &Plan, cpus: usize) -> usize {
    let iterations = plan.iterations as usize;
    let rows = list::<RowState>(cpus) + list::<Outcome>(iterations) * cpus;
    rows + 2 * list::<Outcome>(cpus) + list::<u64>(iterations.max(cpus))
}

/// Returns the bytes of a [`super::point_bench::PointBench`] without its points.
fn point_bench_bytes(cpus: usize, samples: u32) -> usize {
    let columns = MEASURES * list::<u64>(samples as usize) * cpus;
    list::<Outcome>(cpus) + list::<[Vec<u64>; MEASURES]>(cpus) + columns
}

fn rows_bytes(plan: &Plan, cpus: usize) -> usize {
    let samples = if plan.samples { plan.iterations } else { 0 };
    let lists = list::<Statistic>(METRICS_MAX) + list::<(Reason, u32)>(REASONS);
    let row = lists + list::<u8>(Samples::BYTES_MAX * samples as usize) + PRINTING_ROW;
    list::<Row>(cpus) + row * cpus
}

fn points_bytes(points: usize) -> usize {
    list::<Point>(points) + PRINTING_POINT * points + PRINTING
}
