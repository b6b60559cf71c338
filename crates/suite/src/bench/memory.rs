//! Computes the memory that a plan needs, before the first scenario. The sums cannot overflow,
//! because the numbers of iterations, loops and CPUs are limited.

use hardware::board::CpuIndex;

use crate::measure::{Outcome, REASONS, Reason};
use crate::model::{Cell, Check, Cpu, LeftOutState, Samples, Scenario, Series, scenarios};
use crate::plan::{Key, Plan, RunSize, TimerPlan};

use super::cell_state::{COLUMNS, CellState, METRICS_MAX};
use super::states::UsableState;
use super::wake_sources::PLACEMENTS;

/// Bytes for a run's strings: versions, names and line buffers.
const TEXT: usize = 8 << 10;
/// Bytes for the name of an idle state that is left out, and for printing it.
const NAME: usize = 64;
/// Bytes for the summary of one scenario.
const SUMMARY: usize = 768;
/// Bytes for printing one scenario. A suite scenario needs additional bytes for each CPU, and any
/// other scenario needs additional bytes for each series.
pub(crate) const PRINTING: usize = 32 << 10;
/// The additional bytes for each CPU in a suite scenario.
const PRINTING_ROW: usize = 1024;
/// The additional bytes for each series in any other scenario.
const PRINTING_SERIES: usize = 640;
/// Bytes for printing one check.
const CHECK_PRINTING: usize = 320;

/// The memory that a plan needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The heap size in bytes.
    pub heap: usize,
    /// The number of tallies: one for each CPU, or zero.
    pub tallies: usize,
    /// The number of bytes that each CPU can write to, in whole pages.
    pub buffer: u64,
}

impl Needs {
    /// Computes the memory that `plan` needs on a board with `cpus` CPUs and the given number of
    /// idle states.
    #[must_use]
    pub fn compute(plan: &Plan, cpus: usize, idle_states: usize) -> Self {
        let size = RunSize {
            plan,
            cpus,
            idle_states,
        };
        let heaps = plan.scenarios.iter().map(|id| id.heap(&size));
        let largest = list::<Scenario>(PLACEMENTS) + heaps.max().unwrap_or(0);
        let has_timers = plan.scenarios.iter().any(|id| id.uses(Key::Stress));
        Self {
            heap: lasting_bytes(plan, cpus, idle_states) + largest,
            tallies: if has_timers { cpus } else { 0 },
            buffer: if has_timers {
                TimerPlan::from_plan(plan).buffer()
            } else {
                0
            },
        }
    }
}

/// The heap rounds each block size up to a multiple of this many bytes.
pub const BLOCK: usize = 16;

/// Returns the size of a list in bytes; 0 for an empty list.
pub(crate) const fn list<T>(len: usize) -> usize {
    (size_of::<T>() * len).next_multiple_of(BLOCK)
}

/// Returns the number of bytes that are allocated throughout a run.
fn lasting_bytes(plan: &Plan, cpus: usize, idle_states: usize) -> usize {
    let states = 2 * list::<UsableState>(idle_states + 2)
        + 3 * list::<u32>(idle_states + 2)
        + list::<(u32, CpuIndex)>(idle_states + 2)
        + list::<u32>(idle_states)
        + list::<bool>(idle_states)
        + 2 * list::<usize>(idle_states)
        + 2 * list::<LeftOutState>(idle_states)
        + NAME * idle_states;
    let cpu_lists = list::<Cpu>(cpus) + list::<Outcome>(cpus);
    TEXT + cpu_lists + states + SUMMARY * scenarios(plan).len()
}

/// Returns the size in bytes of a [`super::bench::Bench`] without its results.
pub(crate) fn bench_bytes(cpus: usize, outcomes: usize, figures: usize) -> usize {
    let samples = list::<Outcome>(outcomes) + COLUMNS * list::<u64>(figures);
    let cells = list::<CellState>(cpus) + samples * cpus;
    cells + 2 * list::<Outcome>(cpus) + list::<u64>(outcomes.max(cpus))
}

/// Returns the number of bytes that a scenario of checks needs on a board with `cpus` CPUs.
pub(crate) fn checks_bytes(checks: usize, cpus: usize) -> usize {
    list::<Check>(checks) + list::<Outcome>(cpus) + CHECK_PRINTING * checks + PRINTING
}

/// Returns the number of bytes needed for the samples of a cell.
pub(crate) fn samples_bytes(plan: &Plan) -> usize {
    let samples = if plan.sends_samples() {
        plan.iterations
    } else {
        0
    };
    list::<u8>(Samples::BYTES_MAX * samples as usize)
}

/// Returns the number of bytes needed for a suite scenario's cells and for printing them.
pub(crate) fn suite_bytes(plan: &Plan, cpus: usize) -> usize {
    let lists = list::<Series>(METRICS_MAX) + list::<(Reason, u32)>(REASONS);
    list::<Cell>(cpus) + (lists + samples_bytes(plan) + PRINTING_ROW) * cpus
}

/// Returns the number of bytes needed for the cells of any other scenario, with `series` series
/// each, and for printing them.
pub(crate) fn cells_bytes(cells: usize, series: usize) -> usize {
    let lists = list::<Series>(series) + list::<(Reason, u32)>(REASONS);
    list::<Cell>(cells) + (lists + PRINTING_SERIES * series) * cells + PRINTING
}
