//! All CPUs at once: suspends, and PSCI_VERSION.
//!
//! A round counts as a whole or not at all: one CPU that did not go down changes the
//! time that the others wait.

use super::bench::Bench;
use super::calibrate::{
    calibrate, first_wake_up, has_come_too_soon, is_late, judge_round, keep_cold,
    no_cpu_can_suspend, not_supported,
};
use super::reached::read_reached;
use super::rows::show_round;
use crate::measure::{Machine, Reason, Rejection};
use crate::model::Status;

pub(crate) fn measure_parallel<M: Machine>(bench: &mut Bench<'_, M>) -> Result<(), Status> {
    let (who, action) = (bench.step.who, bench.step.action);
    bench.expect_all();
    if action.sleeps().is_some() {
        calibrate(bench, who).map_err(|failure| match no_cpu_can_suspend(&bench.outcomes) {
            true => Status::Skipped(not_supported(action)),
            false => Status::Failed(failure),
        })?;
        read_reached(bench, who);
    } else {
        // The first round is cold: a trial, too.
        bench.trials = 1;
        bench.run(who, action);
        let _ = judge_round(bench);
        keep_cold(bench);
    }
    let mut count = 0;
    while count < bench.setting.plan.iterations && !bench.retries_are_exhausted(bench.attempts) {
        let is_warm_up = bench.attempts < bench.setting.plan.warmup;
        let lost = count_lost(bench);
        bench.attempts += 1;
        bench.run(who, action);
        match judge_round(bench) {
            Ok(()) if is_warm_up => {}
            Ok(()) => {
                keep_round(bench);
                count += 1;
            }
            Err((_, wrong)) => {
                if !is_warm_up {
                    reject_round(bench);
                }
                if has_come_too_soon(bench, wrong) {
                    bench.sleep.lengthen();
                }
                if count_lost(bench) > lost {
                    count = 0;
                    begin_anew(bench);
                }
            }
        }
    }
    let count = count as usize;
    bench.skew = show_round(&mut bench.rows, count, bench.pmf, &mut bench.column);
    Ok(())
}

fn count_lost<M: Machine>(bench: &Bench<'_, M>) -> usize {
    let cpus = 0..bench.rows.len();
    cpus.filter(|cpu| bench.machine.is_lost(*cpu)).count()
}

/// Gives up the rounds that were kept: those to come are without a CPU that was in
/// them, and the two must not be mixed.
fn begin_anew<M: Machine>(bench: &mut Bench<'_, M>) {
    for row in &mut bench.rows {
        row.rejected[Reason::Companion as usize] += row.valid();
        row.kept.clear();
    }
}

/// Keeps each CPU's part of a round. A CPU that is lost has none in later rounds
/// either, so that the samples of one place are of one round.
fn keep_round<M: Machine>(bench: &mut Bench<'_, M>) {
    for (row, outcome) in bench.rows.iter_mut().zip(&bench.outcomes) {
        if outcome.took_part() {
            row.kept.push(*outcome);
        }
    }
}

fn reject_round<M: Machine>(bench: &mut Bench<'_, M>) {
    let first_up = first_wake_up(bench);
    let late = |o| first_up.is_some_and(|up| is_late(o, up));
    for (row, outcome) in bench.rows.iter_mut().zip(&bench.outcomes) {
        if !outcome.took_part() {
            continue;
        }
        row.reject(match outcome.judge(bench.pmf) {
            Err(rejection) => rejection,
            Ok(()) if late(outcome) => Rejection::plain(Reason::Overlap),
            Ok(()) => Rejection::plain(Reason::Companion),
        });
    }
}
