//! The choice of the sleep. A CPU with a pending timer does not go down, and with many CPUs
//! the queue for locks is long. So a trial's sleep is doubled until all CPUs are down before
//! the first wake-up; then the sleep is a multiple of the time that they took.

use smccc::psci;

use super::bench::Bench;
use super::rows::came_too_soon;
use crate::measure::{Action, Detail, Machine, Outcome, Reason, Rejection, Who};
use crate::model::{Failure, Skip};
use crate::spec::pmf::Stamp;

/// Sleep of the first trial, in microseconds.
const FIRST_US: u64 = 1_000;
/// The least sleep, in microseconds: rounds after the trial may be slower.
pub(crate) const LEAST_US: u64 = 1_000;
/// Sleep in microseconds without PMF, by which alone the time to go down is known.
pub(crate) const UNKNOWN_US: u64 = 10_000;
pub(crate) const LONGEST_US: u64 = 2_000_000;
/// Sleep as a multiple of the longest time to go down in the trial. CPUs queue for
/// locks, in another order each round; a CPU alone does not.
const MARGIN_ALL: u64 = 4;
/// That multiple for one CPU alone.
const MARGIN_ALONE: u64 = 2;
/// The least and the longest time that CPUs without work stay quiet after a
/// wake-up, in microseconds.
const QUIET_LEAST_US: u64 = 200;
const QUIET_MOST_US: u64 = 50_000;
/// Trials that may fail for a reason that a longer sleep does not remove.
const TRIES: u32 = 3;
/// The sleep may grow by this factor afterwards, so that a CPU that never goes down
/// does not make each of its attempts last for seconds.
const GROWTH: u64 = 8;

/// The CPU and the reason for which a round does not count.
pub(crate) type Wrong = (usize, Rejection);

/// Finds the sleep by trials of `who`, and keeps the first sample of each CPU as its cold one.
pub(crate) fn calibrate<M: Machine>(bench: &mut Bench<'_, M>, who: Who) -> Result<(), Failure> {
    let action = bench.step.action;
    let longest = bench.us(LONGEST_US);
    bench.sleep.now = bench.sleep.now.max(bench.us(FIRST_US));
    bench.sleep.longest = longest;
    let mut tries = TRIES;
    loop {
        bench.trials += 1;
        bench.run(who, action);
        let verdict = judge_round(bench);
        keep_cold(bench);
        let Err((cpu, wrong)) = verdict else { break };
        let too_soon = has_come_too_soon(bench, wrong);
        if let Action::Suspend { power_state, .. } = action
            && let Detail::Firmware(error) = wrong.detail
            && !too_soon
        {
            let cpu = cpu as u16;
            return Err(Failure::StateRefused {
                power_state,
                error,
                cpu,
            });
        }
        let goes_on = if too_soon {
            let is_shorter = bench.sleep.now < longest;
            bench.sleep.lengthen();
            is_shorter
        } else if matches!(wrong.detail, Detail::Loss(_)) {
            // The next trial is without that CPU.
            true
        } else {
            // A longer sleep may help a chain that was broken.
            bench.sleep.lengthen();
            tries -= 1;
            tries > 0
        };
        if !goes_on {
            return Err(Failure::NotCalibrated {
                sleep: bench.sleep.now,
                last: wrong,
                cpu: cpu as u16,
            });
        }
    }
    let margin = match who {
        Who::All | Who::First(_) => MARGIN_ALL,
        Who::Only(_) => MARGIN_ALONE,
    };
    let now = match longest_way_down(bench) {
        None => bench.sleep.now.max(bench.us(UNKNOWN_US)),
        Some(down) => (down * margin).max(bench.us(LEAST_US)).min(longest),
    };
    bench.sleep.now = now;
    bench.sleep.longest = longest.min(now.saturating_mul(GROWTH));
    bench.sleep.quiet = quiet_after_wake_up(bench);
    Ok(())
}

fn suspends(outcomes: &[Outcome]) -> impl Iterator<Item = &Outcome> + Clone {
    outcomes.iter().filter(|it| it.action.sleeps().is_some())
}

/// Returns true if the firmware implements CPU_SUSPEND for no CPU of the round in hand.
pub(crate) fn no_cpu_can_suspend(outcomes: &[Outcome]) -> bool {
    let mut parts = suspends(outcomes).map(|it| it.code).peekable();
    parts.peek().is_some() && parts.all(|code| code == psci::error::NOT_SUPPORTED)
}

/// Returns a multiple of the time from the first due wake-up to the last return.
fn quiet_after_wake_up<M: Machine>(bench: &Bench<'_, M>) -> u64 {
    let parts = suspends(&bench.outcomes);
    let first = parts.clone().map(|it| it.due).min().unwrap_or(0);
    let last = parts.map(|it| it.after).max().unwrap_or(0);
    let (least, most) = (bench.us(QUIET_LEAST_US), bench.us(QUIET_MOST_US));
    (last.saturating_sub(first) * MARGIN_ALONE).clamp(least, most)
}

/// Returns the longest time from the start to ENTER_HW_LOW_PWR; None without PMF.
fn longest_way_down<M: Machine>(bench: &Bench<'_, M>) -> Option<u64> {
    let parts = suspends(&bench.outcomes).filter(|it| bench.pmf && it.judge(true).is_ok());
    let down = |it: &Outcome| it.stamps.at(Stamp::EnterHwLowPwr).saturating_sub(it.start);
    parts.map(down).max()
}

pub(crate) fn keep_cold<M: Machine>(bench: &mut Bench<'_, M>) {
    for (row, outcome) in bench.rows.iter_mut().zip(&bench.outcomes) {
        if outcome.took_part() && outcome.judge(bench.pmf).is_ok() {
            row.cold.get_or_insert(*outcome);
        }
    }
}

/// Judges the round: each CPU must have a sample, and none may wake before all are down.
pub(crate) fn judge_round<M: Machine>(bench: &mut Bench<'_, M>) -> Result<(), Wrong> {
    let mut wrong = None;
    for (row, outcome) in bench.rows.iter_mut().zip(&bench.outcomes) {
        if outcome.took_part()
            && let Err(rejection) = outcome.judge(bench.pmf)
        {
            row.note_loss(rejection);
            wrong.get_or_insert((row.row.cpu.into(), rejection));
        }
    }
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    let late = first_wake_up(bench)
        .and_then(|first_up| bench.outcomes.iter().position(|it| is_late(it, first_up)));
    match late {
        Some(cpu) => Err((cpu, Rejection::plain(Reason::Overlap))),
        None => Ok(()),
    }
}

/// Returns the instant of the first wake-up, or of the first SGI; None without PMF.
pub(crate) fn first_wake_up<M: Machine>(bench: &Bench<'_, M>) -> Option<u64> {
    let wakes = suspends(&bench.outcomes).filter(|it| bench.pmf && it.judge(true).is_ok());
    let wake = |it: &Outcome| match bench.step.timers_stop {
        // By SGI, all must be down before the first is sent.
        true => it.due,
        false => it.stamps.at(Stamp::ExitHwLowPwr),
    };
    wakes.map(wake).min()
}

/// Returns true if the CPU was not down at the first wake-up. In one tick with it is
/// too late: the order of the two is not known.
pub(crate) fn is_late(outcome: &Outcome, first_up: u64) -> bool {
    let is_suspend = outcome.action.sleeps().is_some();
    is_suspend && outcome.stamps.at(Stamp::EnterHwLowPwr) >= first_up
}

/// Returns true if a longer sleep may prevent the rejection. In OS-initiated mode,
/// the last CPU asks for all, and a longer step gives the others time to be down.
pub(crate) fn has_come_too_soon<M: Machine>(bench: &Bench<'_, M>, rejection: Rejection) -> bool {
    let denied = Detail::Firmware(psci::Error::Denied.into());
    came_too_soon(rejection) || bench.step.osi && rejection.detail == denied
}

pub(crate) fn not_supported(action: Action) -> Skip {
    Skip::NotSupported(match action {
        Action::SystemSuspend => psci::PSCI_SYSTEM_SUSPEND_64,
        _ => psci::PSCI_CPU_SUSPEND_64,
    })
}
