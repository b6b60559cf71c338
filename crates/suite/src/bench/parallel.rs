//! Scenarios that run on all CPUs at once: suspends and PSCI_VERSION.
//!
//! A round counts either in full or not at all, because if one CPU does not power down, the others'
//! waiting times change.

use crate::measure::{Reason, Rejection};
use crate::model::Status;
use hardware::board::CpuIndex;

use super::bench::Bench;
use super::calibrate::{
    calibrate, first_wake_up, judge_part, judge_round, lengthen_wait, no_cpu_can_suspend,
    not_supported, run_trial,
};
use super::reached::read_reached;

/// Runs the rounds of a step in which all CPUs make their calls at the same time.
pub(crate) fn measure_parallel(bench: &mut Bench<'_>) -> Result<(), Status> {
    let (participants, action) = (bench.step().participants, bench.step().action);
    bench.expect_all();
    let mut warmup = bench.plan().warmup;
    if action.sleeps() {
        calibrate(bench, participants).map_err(|failure| {
            if no_cpu_can_suspend(bench.outcomes()) {
                Status::Skipped(not_supported(action))
            } else {
                Status::Failed(failure)
            }
        })?;
        warmup = read_reached(bench, participants);
    } else {
        // The first round is cold, so it also serves as a trial.
        if let Err((_, rejection)) = run_trial(bench, participants) {
            lengthen_wait(bench, rejection);
        }
    }
    let mut count = 0;
    while count < bench.plan().iterations && !bench.retries_are_exhausted(bench.totals().attempts) {
        let is_warm_up = bench.totals().attempts < warmup;
        let lost = bench.count_lost();
        bench.count_attempt();
        bench.run_action(participants, action);
        let Err((_, rejection)) = judge_round(bench) else {
            if !is_warm_up {
                bench.keep_round();
                count += 1;
            }
            continue;
        };
        if !is_warm_up {
            reject_round(bench);
        }
        lengthen_wait(bench, rejection);
        if bench.count_lost() > lost {
            count = 0;
            bench.discard_rounds();
        }
    }
    bench.show_round(count);
    Ok(())
}

/// Counts a rejection for each CPU in a round that does not count.
fn reject_round(bench: &mut Bench<'_>) {
    let first_up = first_wake_up(bench);
    for cpu in CpuIndex::all(bench.cpu_count()) {
        if bench.outcome(cpu).took_part() {
            let rejection = judge_part(bench, cpu, first_up)
                .err()
                .unwrap_or(Rejection::plain(Reason::Companion));
            bench.cell_mut(cpu).reject(rejection);
        }
    }
}
