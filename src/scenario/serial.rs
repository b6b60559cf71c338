//! Suspends of one CPU after another, all others off.
//!
//! The lead comes last, when it is alone. By the method of TF-A's tests each sample
//! follows a CPU_ON, and each CPU has one turn before the first has its second; by
//! the warm method a CPU stays on until it has all its samples.

use super::bench::{Bench, Stop};
use super::calibrate::{calibrate, no_cpu_can_suspend, stop_not_supported};
use super::reached::read_reached;
use super::rows::came_too_soon;
use crate::measure::{Action, Machine, Who};
use crate::model::Skip;
use crate::plan::Method;
use crate::spec::stat::Ladder;

/// Measures suspends of one CPU after another.
pub(crate) fn measure_serial<M: Machine>(
    bench: &mut Bench<'_, M>,
    action: Action,
    ladder: &Ladder,
) -> Result<(), Stop> {
    bench.expect_all();
    skip_lead_without_helper(bench);
    let cpus = bench.rows.len();
    // The slowest CPU's sleep is enough for all.
    let mut longest = 0;
    let mut failure = None;
    let mut can_suspend = false;
    for turn in 0..cpus {
        let cpu = cpu_of_turn(bench, turn);
        if bench.machine.is_lost(cpu) || !bench.rows[cpu].needs_samples() {
            continue;
        }
        bench.sleep.now = 0;
        let calibrated = calibrate(bench, Who::Only(cpu), action);
        can_suspend |= !no_cpu_can_suspend(&bench.outcomes);
        match calibrated {
            Ok(()) => {
                longest = longest.max(bench.sleep.now);
                read_reached(bench, Who::Only(cpu), action, ladder);
            }
            // The other CPUs are measured nevertheless.
            Err(wrong) => {
                bench.rows[cpu].is_given_up = true;
                failure.get_or_insert(Stop::Fail(wrong));
            }
        }
    }
    if failure.is_some() && !can_suspend {
        return Err(stop_not_supported(action));
    }
    bench.sleep.now = longest;
    bench.sleep.longest = bench.sleep.longest.max(longest);
    let repeats = bench.setting.plan.warmup + bench.setting.plan.iterations;
    match bench.method {
        Method::Tftf => {
            for repeat in 0..repeats {
                for turn in 0..cpus {
                    take_sample(bench, cpu_of_turn(bench, turn), action, repeat);
                }
            }
        }
        Method::Warm => {
            for turn in 0..cpus {
                for repeat in 0..repeats {
                    take_sample(bench, cpu_of_turn(bench, turn), action, repeat);
                }
            }
        }
    }
    show_medians(bench);
    failure.map_or(Ok(()), Err)
}

/// Shows each CPU by its own medians.
pub(crate) fn show_medians<M: Machine>(bench: &mut Bench<'_, M>) {
    for row in &mut bench.rows {
        row.show_medians(bench.pmf, &mut bench.column);
    }
}

/// Skips the lead's row if no CPU is left to wake it.
pub(crate) fn skip_lead_without_helper<M: Machine>(bench: &mut Bench<'_, M>) {
    let lead = bench.machine.facts().lead;
    let helper = bench.waker(Who::Only(lead)).helper();
    if helper.is_some_and(|helper| helper >= bench.rows.len()) {
        bench.rows[lead].row.skipped = Some(Skip::NoHelper);
    }
}

/// Returns the CPU of a turn: in the board's order, the lead last.
fn cpu_of_turn<M: Machine>(bench: &Bench<'_, M>, turn: usize) -> usize {
    let lead = bench.machine.facts().lead;
    match turn + 1 {
        n if n == bench.rows.len() => lead,
        _ if turn < lead => turn,
        next => next,
    }
}

/// Runs one repeat of one CPU: attempts until there is a sample, or until the CPU's
/// attempts are used up.
fn take_sample<M: Machine>(bench: &mut Bench<'_, M>, cpu: usize, action: Action, repeat: u32) {
    let warmup = bench.setting.plan.warmup;
    let is_warm_up = repeat < warmup;
    while !bench.machine.is_lost(cpu) {
        let row = &bench.rows[cpu];
        if row.is_given_up || !row.needs_samples() {
            return;
        }
        let made = warmup.min(repeat) + row.valid() + row.rejected_total();
        if bench.retries_are_exhausted(made) {
            return;
        }
        bench.attempts += 1;
        let outcome = bench.run_alone(cpu, action);
        match outcome.judge(bench.pmf) {
            Ok(()) if is_warm_up => return,
            Ok(()) => {
                bench.rows[cpu].kept.push(outcome);
                return;
            }
            Err(rejection) => {
                if came_too_soon(rejection) {
                    bench.sleep.lengthen();
                }
                if is_warm_up {
                    bench.rows[cpu].note_loss(rejection);
                    return;
                }
                bench.rows[cpu].reject(rejection);
            }
        }
    }
}
