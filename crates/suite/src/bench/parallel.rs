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
use super::cell_state::show_round;
use super::reached::read_reached;

/// Runs the rounds of a step in which all CPUs make their calls at the same time.
pub(crate) fn measure_parallel(bench: &mut Bench<'_>) -> Result<(), Status> {
    let (who, action) = (bench.step.who, bench.step.action);
    bench.expect_all();
    let mut warmup = bench.setting.plan.warmup;
    if action.sleeps() {
        calibrate(bench, who).map_err(|failure| {
            if no_cpu_can_suspend(&bench.outcomes) {
                Status::Skipped(not_supported(action))
            } else {
                Status::Failed(failure)
            }
        })?;
        warmup = read_reached(bench, who);
    } else {
        // The first round is cold, so it also serves as a trial.
        if let Err((_, wrong)) = run_trial(bench, who) {
            lengthen_wait(bench, wrong);
        }
    }
    let mut count = 0;
    while count < bench.setting.plan.iterations && !bench.retries_are_exhausted(bench.attempts) {
        let is_warm_up = bench.attempts < warmup;
        let lost = bench.machine.count_lost(bench.cells.len());
        bench.attempts += 1;
        bench.run_action(who, action);
        let Err((_, wrong)) = judge_round(bench) else {
            if !is_warm_up {
                keep_round(bench);
                count += 1;
            }
            continue;
        };
        if !is_warm_up {
            reject_round(bench);
        }
        lengthen_wait(bench, wrong);
        if bench.machine.count_lost(bench.cells.len()) > lost {
            count = 0;
            discard_rounds(bench);
        }
    }
    bench.skew = show_round(
        &mut bench.cells,
        count as usize,
        bench.pmf,
        &mut bench.column,
    );
    Ok(())
}

/// Discards the rounds kept so far. A CPU that took part in these rounds has been lost, so they
/// must not be mixed with rounds without that CPU.
fn discard_rounds(bench: &mut Bench<'_>) {
    for state in &mut bench.cells {
        state.rejected[Reason::Companion as usize] += state.valid();
        state.kept.clear();
    }
}

/// Keeps each CPU's outcome from a round. A lost CPU does not take part in later rounds, so samples
/// with the same index always come from the same round.
fn keep_round(bench: &mut Bench<'_>) {
    for (state, outcome) in bench.cells.iter_mut().zip(&bench.outcomes) {
        if outcome.took_part() {
            state.kept.push(*outcome);
        }
    }
}

/// Counts a rejection for each CPU in a round that does not count.
fn reject_round(bench: &mut Bench<'_>) {
    let first_up = first_wake_up(bench);
    for cpu in CpuIndex::all(bench.cells.len()) {
        if bench.outcomes[cpu.index()].took_part() {
            let rejection = judge_part(bench, cpu, first_up)
                .err()
                .unwrap_or(Rejection::plain(Reason::Companion));
            bench.cells[cpu.index()].reject(rejection);
        }
    }
}
