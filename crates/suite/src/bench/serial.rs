//! Suspends one CPU after another, with the lead last. All other CPUs are off, except the lead and
//! the helper, if there is one. With TF-A's test method, each sample follows a CPU_ON, and every
//! CPU takes one turn before any CPU takes its second. With the warm method, a CPU stays on until
//! it has all its samples.

use crate::measure::{Action, Participants, Waker};
use crate::model::{Skip, Status};
use crate::plan::Method;
use hardware::board::CpuIndex;

use super::bench::{AttemptUse, Bench};
use super::calibrate::{calibrate, lengthen_wait, no_cpu_can_suspend, not_supported};
use super::reached::read_reached;

/// Runs the rounds of a step in which one CPU after another suspends.
pub(crate) fn measure_serial(bench: &mut Bench<'_>) -> Result<(), Status> {
    bench.expect_all();
    skip_lead_without_helper(bench);
    skip_without_neighbor(bench);
    let (cpus, lead) = (bench.cpu_count(), bench.lead());
    if bench.facts().no_cpu_off.is_some() {
        // Turn on all CPUs before the first one is measured, so that its conditions match those of
        // later turns.
        bench.run_action(Participants::All, Action::Version);
    }
    // All CPUs are measured with the sleep and quiet times that the slowest CPU needs.
    let (mut longest, mut quiet) = (0, 0);
    let mut warmup = 0;
    let mut failure = None;
    let mut can_suspend = false;
    for cpu in (0..cpus).map(|turn| cpu_of_turn(turn, lead, cpus)) {
        if bench.is_lost(cpu) || !bench.cell(cpu).needs_samples() {
            continue;
        }
        // Each calibration starts from scratch.
        bench.waits.forget_sleep();
        let calibrated = calibrate(bench, Participants::Only(cpu));
        can_suspend |= !no_cpu_can_suspend(bench.outcomes());
        match calibrated {
            Ok(()) => {
                longest = longest.max(bench.waits.sleep());
                quiet = quiet.max(bench.waits.quiet());
                warmup = warmup.max(read_reached(bench, Participants::Only(cpu)));
            }
            // The other CPUs are still measured.
            Err(calibration_failure) => {
                bench.cell_mut(cpu).note_failed_trials();
                failure.get_or_insert(calibration_failure);
            }
        }
    }
    if failure.is_some() && !can_suspend {
        return Err(Status::Skipped(not_supported(bench.step().action)));
    }
    bench.waits.cover_slowest(longest, quiet);
    let repeats = (warmup + bench.plan().iterations) as usize;
    let method = bench.method();
    let mut take = |repeat: usize, turn: usize| {
        take_sample(bench, cpu_of_turn(turn, lead, cpus), repeat as u32, warmup);
    };
    match method {
        Method::Tftf => {
            for repeat in 0..repeats {
                for turn in 0..cpus {
                    take(repeat, turn);
                }
            }
        }
        Method::Warm => {
            for turn in 0..cpus {
                for repeat in 0..repeats {
                    take(repeat, turn);
                }
            }
        }
    }
    bench.show_medians();
    failure.map_or(Ok(()), |failure| Err(Status::Failed(failure)))
}

/// Skips the rows of CPUs that lack the neighbor that is to wake them.
fn skip_without_neighbor(bench: &mut Bench<'_>) {
    if !bench.step().woken_by.has_neighbor() {
        return;
    }
    for cpu in CpuIndex::all(bench.cpu_count()) {
        if bench.waker(Participants::Only(cpu)) == Waker::NoHelper {
            bench.cell_mut(cpu).skip(Skip::NoNeighbor);
        }
    }
}

/// Skips the lead's row if no CPU remains that can wake it, and in a board's first run.
pub(crate) fn skip_lead_without_helper(bench: &mut Bench<'_>) {
    let lead = bench.lead();
    if bench.plan().scenarios.is_first() {
        bench.cell_mut(lead).skip(Skip::First);
    } else if bench.waker(Participants::Only(lead)) == Waker::NoHelper {
        bench.cell_mut(lead).skip(Skip::NoHelper);
    }
}

/// Returns the CPU for a turn. CPUs take turns in board order, with the lead last.
fn cpu_of_turn(turn: usize, lead: CpuIndex, cpus: usize) -> CpuIndex {
    if turn + 1 == cpus {
        lead
    } else {
        CpuIndex::new(turn + usize::from(turn >= lead.index()))
    }
}

/// Runs one repeat on one CPU, making attempts until there is a sample or the CPU's attempts are
/// used up. The first `warmup` repeats yield no samples.
fn take_sample(bench: &mut Bench<'_>, cpu: CpuIndex, repeat: u32, warmup: u32) {
    let attempt_use = if repeat < warmup {
        AttemptUse::WarmUp
    } else {
        AttemptUse::Measure
    };
    while !bench.is_lost(cpu) {
        let state = bench.cell(cpu);
        // The number of completed repeats and failed attempts.
        let made = warmup.min(repeat) + state.valid() + state.rejected_total();
        let is_done = state.has_failed_trials() || !state.needs_samples();
        if is_done || bench.retries_are_exhausted(made) {
            return;
        }
        bench.count_attempt();
        let outcome = bench.run_alone(cpu, bench.step().action);
        let Some(rejection) = bench.judge_attempt(cpu, &outcome, attempt_use) else {
            return;
        };
        lengthen_wait(bench, rejection);
        if attempt_use == AttemptUse::WarmUp {
            return;
        }
    }
}
