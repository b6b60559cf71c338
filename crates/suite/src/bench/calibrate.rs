//! Chooses the sleep of a step's rounds: the span from start to the first due. A CPU with a pending
//! timer does not power down, and many CPUs make for a long lock queue. The sleep in a trial is
//! therefore doubled until all CPUs are down before the first is due; it is then set to a multiple
//! of the time that they needed.

use crate::measure::{
    Action, ActionDetails, Detail, Outcome, Participants, Reason, Rejection, ShortWait,
};
use crate::model::{Failure, Skip};
use hardware::board::CpuIndex;
use hardware::spec::counter_value::{CounterValue, ticks_between};
use hardware::spec::pmf::Stamp;
use smccc::psci;

use super::bench::Bench;
use super::waits::SLEEP_MAX_US;

/// The sleep in the first trial, in microseconds for each CPU that powers down. CPUs queue for
/// locks, so more CPUs need more time.
const FIRST_SLEEP_US: u64 = 1_000;
/// The minimum sleep, in microseconds. It leaves room for rounds that are slower than the trial.
pub(super) const SLEEP_MIN_US: u64 = 500;
/// The sleep if PMF is not available, in microseconds. Only PMF shows how long the power-down
/// takes.
pub(super) const UNKNOWN_SLEEP_US: u64 = 10_000;
/// The sleep, as a multiple of the longest power-down in the trial. In each round, CPUs queue for
/// locks in a different order; a single CPU does not queue.
const MARGIN_ALL: u64 = 4;
/// The corresponding multiple for a single CPU.
const MARGIN_ALONE: u64 = 2;
/// The minimum quiet time after the last due, in microseconds.
const QUIET_MIN_US: u64 = 200;
/// The number of trials that fail for a reason other than a wait that is too short, after which the
/// calibration fails.
const OTHER_FAILURES_MAX: u32 = 3;
/// The maximum factor by which the sleep may grow after calibration, so that a CPU that never
/// powers down does not take seconds for each attempt.
const GROWTH: u64 = 8;

/// The CPU whose outcome invalidated a round, and the reason.
pub(crate) type RoundRejection = (CpuIndex, Rejection);

/// Finds the sleep duration by running trials with `participants`. Keeps each CPU's first sample as
/// its cold sample.
pub(crate) fn calibrate(bench: &mut Bench<'_>, participants: Participants) -> Result<(), Failure> {
    let action = bench.step().action;
    let longest = bench.us(SLEEP_MAX_US);
    let cpus = participants.count(bench.cpu_count()) as u64;
    let shortest = bench.us(bench.plan().shortest_sleep_us());
    let first = bench.us(FIRST_SLEEP_US * cpus).max(shortest);
    bench.waits.begin_trials(first, longest);
    let mut other_failures = 0;
    while let Err((cpu, rejection)) = run_trial(bench, participants) {
        let short_wait = short_wait(bench, rejection);
        if let Some(power_state) = action.power_state()
            && let Detail::Firmware(error) = rejection.detail
            && short_wait != Some(ShortWait::Sleep)
        {
            return Err(Failure::StateRefused {
                power_state,
                error,
                cpu,
            });
        }
        // If a CPU was lost, the next trial excludes it.
        if matches!(rejection.detail, Detail::Loss(_)) {
            continue;
        }
        let was_last_try = match short_wait {
            Some(ShortWait::Quiet) if !bench.waits.is_longest_quiet() => false,
            Some(ShortWait::Sleep) => bench.waits.is_longest_sleep(),
            Some(ShortWait::Quiet) | None => {
                other_failures += 1;
                other_failures == OTHER_FAILURES_MAX
            }
        };
        // A longer sleep may also help if the wake-up chain was broken.
        lengthen(bench, short_wait.unwrap_or(ShortWait::Sleep));
        if was_last_try {
            return Err(Failure::NotCalibrated {
                sleep: bench.waits.sleep(),
                last: rejection,
                cpu,
            });
        }
    }
    let margin = if participants.is_single() {
        MARGIN_ALONE
    } else {
        MARGIN_ALL
    };
    let sleep = match longest_way_down(bench) {
        None => bench.waits.sleep().max(bench.us(UNKNOWN_SLEEP_US)),
        Some(down) => (down * margin).max(bench.us(SLEEP_MIN_US)).min(longest),
    };
    let sleep = sleep.max(shortest);
    let longest_later = longest.min(sleep.saturating_mul(GROWTH));
    let quiet = quiet_after_wake_up(bench);
    bench.waits.end_trials(sleep, longest_later, quiet);
    Ok(())
}

/// Returns the outcomes of the CPUs that suspended.
fn suspends(outcomes: &[Outcome]) -> impl Iterator<Item = &Outcome> + Clone {
    outcomes.iter().filter(|outcome| outcome.action.sleeps())
}

/// Returns the suspends in the current round that are samples; none without PMF.
fn timed_suspends<'b>(bench: &'b Bench<'_>) -> impl Iterator<Item = &'b Outcome> {
    suspends(bench.outcomes())
        .filter(|outcome| bench.has_pmf() && outcome.judge(bench.time_source()).is_ok())
}

/// Returns true if every suspend in the current round returned NOT_SUPPORTED, and there was at
/// least one.
pub(crate) fn no_cpu_can_suspend(outcomes: &[Outcome]) -> bool {
    let mut codes = suspends(outcomes).map(|outcome| outcome.code).peekable();
    codes.peek().is_some() && codes.all(|code| code == Some(psci::error::NOT_SUPPORTED))
}

/// Returns a multiple of the time from the first due to the last return.
fn quiet_after_wake_up(bench: &Bench<'_>) -> u64 {
    let suspends = suspends(bench.outcomes());
    let first_due = suspends.clone().filter_map(|outcome| outcome.due()).min();
    let last_return = suspends.filter_map(|outcome| outcome.returned_at).max();
    let quiet = ticks_between(first_due, last_return) * MARGIN_ALONE;
    quiet.max(bench.us(QUIET_MIN_US))
}

/// Returns the longest time from the start to ENTER_HW_LOW_PWR, or None if there is no PMF.
fn longest_way_down(bench: &Bench<'_>) -> Option<u64> {
    let powerdown_ticks =
        |outcome: &Outcome| ticks_between(outcome.start, outcome.stamp(Stamp::EnterHwLowPwr));
    timed_suspends(bench).map(powerdown_ticks).max()
}

/// Runs a round as a trial and evaluates it. Keeps the trial's samples as cold samples for CPUs
/// that have none.
pub(crate) fn run_trial(
    bench: &mut Bench<'_>,
    participants: Participants,
) -> Result<(), RoundRejection> {
    bench.count_trial();
    bench.run_marked(participants, bench.step().action);
    bench.keep_cold_samples();
    note_kept_power(bench);
    judge_round(bench)
}

/// Notes the CPUs that kept their power in the current round.
fn note_kept_power(bench: &mut Bench<'_>) {
    for cpu in CpuIndex::all(bench.cpu_count()) {
        if let ActionDetails::Suspend(suspended) = bench.outcome(cpu).details
            && suspended.kept_power == Some(true)
        {
            bench.cell_mut(cpu).note_kept_power();
        }
    }
}

/// Evaluates the round. Every CPU must have a sample, and no CPU may wake up before all are down.
pub(crate) fn judge_round(bench: &mut Bench<'_>) -> Result<(), RoundRejection> {
    let first_up = first_wake_up(bench);
    let mut first_late = None;
    let mut first_other = None;
    for cpu in CpuIndex::all(bench.cpu_count()) {
        let Err(rejection) = judge_part(bench, cpu, first_up) else {
            continue;
        };
        bench.cell_mut(cpu).note_loss(rejection);
        let is_late = matches!(rejection.reason, Reason::Overlap | Reason::LateReturn);
        let first = if is_late {
            &mut first_late
        } else {
            &mut first_other
        };
        first.get_or_insert((cpu, rejection));
    }
    first_other.or(first_late).map_or(Ok(()), Err)
}

/// Evaluates a CPU's part in the current round.
pub(crate) fn judge_part(
    bench: &Bench<'_>,
    cpu: CpuIndex,
    first_up: Option<CounterValue>,
) -> Result<(), Rejection> {
    let outcome = bench.outcome(cpu);
    if !outcome.took_part() {
        return Ok(());
    }
    outcome.judge(bench.time_source())?;
    let down = outcome.stamp(Stamp::EnterHwLowPwr);
    // Going down in the same tick as the first wake-up is too late, because the order of the two
    // events is unknown.
    if first_up.is_some() && outcome.action.sleeps() && down >= first_up {
        Err(Rejection::plain(Reason::Overlap))
    } else {
        Ok(())
    }
}

/// Returns the instant of the first wake-up or the first SGI, or None if there is no PMF.
pub(crate) fn first_wake_up(bench: &Bench<'_>) -> Option<CounterValue> {
    let wake_up = |outcome: &Outcome| {
        if bench.step().timers_stop {
            // With SGIs, all CPUs must be down before the first SGI is sent.
            outcome.due()
        } else {
            outcome.stamp(Stamp::ExitHwLowPwr)
        }
    };
    timed_suspends(bench).filter_map(wake_up).min()
}

/// Lengthens the wait that was too short, if that is why the attempt was not counted.
pub(crate) fn lengthen_wait(bench: &mut Bench<'_>, rejection: Rejection) {
    if let Some(wait) = short_wait(bench, rejection) {
        lengthen(bench, wait);
    }
}

fn lengthen(bench: &mut Bench<'_>, wait: ShortWait) {
    match wait {
        ShortWait::Quiet => {
            let late = bench.outcomes().iter().map(Outcome::lateness).max();
            bench.waits.lengthen_quiet(late.unwrap_or(0));
        }
        ShortWait::Sleep => bench.waits.lengthen_sleep(),
    }
}

/// Returns the wait that was too short. In OS-initiated mode, the last CPU requests the state for
/// all CPUs, and a longer sleep gives the others more time to power down.
fn short_wait(bench: &Bench<'_>, rejection: Rejection) -> Option<ShortWait> {
    let is_denied = rejection.detail == Detail::Firmware(psci::Error::Denied.into());
    if bench.step().osi && is_denied {
        return Some(ShortWait::Sleep);
    }
    rejection.reason.short_wait()
}

/// Returns the reason to skip an action that the firmware does not support.
pub(crate) fn not_supported(action: Action) -> Skip {
    Skip::NotSupported(if action == Action::SystemSuspend {
        psci::PSCI_SYSTEM_SUSPEND_64
    } else {
        psci::PSCI_CPU_SUSPEND_64
    })
}
