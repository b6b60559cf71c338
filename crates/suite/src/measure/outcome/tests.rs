//! Outcomes that count, and those that are rejected.

use super::*;
use crate::measure::{Cause, Metric, Reason, RoundPhase, TimeSource};
use TimeSource::{Counter, CounterAndPmf};

fn at(number: u64) -> Option<CounterValue> {
    CounterValue::new(number)
}

fn good() -> Outcome {
    let mut outcome = good_for(Action::SystemSuspend);
    set_due(&mut outcome, 290);
    outcome
}

/// Returns an outcome of an action with the same times as [`good`].
fn good_for(action: Action) -> Outcome {
    Outcome {
        end: ActionEnd::Resumed,
        start: at(95),
        before: at(100),
        returned_at: at(350),
        stamps: Ok(Stamps::new([110, 340, 160, 300, 120, 150])),
        ..Outcome::new(action)
    }
}

fn set_due(outcome: &mut Outcome, due: u64) {
    if let ActionDetails::Suspend(suspended) = &mut outcome.details {
        suspended.due = at(due);
    }
}

fn set_stamp(outcome: &mut Outcome, stamp: Stamp, ticks: u64) {
    if let Ok(stamps) = &mut outcome.stamps {
        stamps.set(stamp, ticks);
    }
}

#[test]
fn a_good_suspend_counts_and_has_its_figures() {
    use Metric::{CacheFlush, Call, Latency, Powerdown, Wake, Wakeup};
    let outcome = good();
    assert_eq!(outcome.judge(CounterAndPmf), Ok(()));
    let metrics = [Powerdown, Wakeup, CacheFlush, Latency, Call, Wake];
    let figures = metrics.map(|metric| outcome.metric(metric, CounterAndPmf).unwrap_or(0));
    assert_eq!(figures, [50, 40, 30, 0, 250, 60]);
    assert_eq!(outcome.metric(Powerdown, Counter), None);
    // Standby has no flush, and PSCI_VERSION has only a latency.
    let mut standby = good();
    standby.action = Action::Suspend {
        power_state: 0,
        powerdown: false,
    };
    assert_eq!(standby.metric(CacheFlush, CounterAndPmf), None);
    let version = good_for(Action::Version);
    let of_version =
        [Powerdown, Latency, Wakeup, Wake].map(|metric| version.metric(metric, CounterAndPmf));
    assert_eq!(of_version, [None, Some(230), None, None]);
}

/// Returns the outcome of a call that is the first one after a power-down.
fn woken_outcome(call: SingleCall, code: i32) -> Outcome {
    let preparation = Preparation::Suspend {
        power_state: 2,
        powerdown: true,
    };
    Outcome {
        action: Action::ColdCall { call, preparation },
        code: Some(code),
        before: at(310),
        // ENTER_PSCI and EXIT_PSCI belong to the call; the other timestamps are still from the
        // suspend.
        stamps: Ok(Stamps::new([320, 340, 160, 300, 120, 150])),
        ..good()
    }
}

/// The sleep comes before the timed call, so only the call's own figures exist.
#[test]
fn call_after_wake_up_has_no_figures_of_a_suspend() {
    use Metric::{Call, Latency, Powerdown, Wake, Wakeup};
    let version = woken_outcome(SingleCall::Version, 0x1_0001);
    let stamp = woken_outcome(SingleCall::ReadStamp, 0);
    for (outcome, expected) in [
        (version, [None, None, None, Some(20), Some(40)]),
        (stamp, [None, None, None, None, Some(40)]),
    ] {
        assert_eq!(outcome.judge(CounterAndPmf), Ok(()));
        let metrics = [Powerdown, Wakeup, Wake, Latency, Call];
        let figures = metrics.map(|metric| outcome.metric(metric, CounterAndPmf));
        assert_eq!(figures, expected, "{:?}", outcome.action);
    }
}

/// Only the timestamps of PSCI_VERSION must lie within the call.
#[test]
fn each_rule_of_a_call_after_wake_up() {
    use Reason::*;
    let version = woken_outcome(SingleCall::Version, 0x1_0001);
    let stamp = woken_outcome(SingleCall::ReadStamp, 0);
    let edits: [(Edit, Reason); 5] = [
        (|outcome| outcome.end = ActionEnd::Returned, Abandoned),
        (|outcome| outcome.code = Some(-2), Refused),
        (|outcome| set_due(outcome, 301), EarlyWake),
        (wake_early, EarlyWake),
        (|outcome| outcome.quiet_end = at(349), LateReturn),
    ];
    for outcome in [version, stamp] {
        for (edit, reason) in edits {
            let mut edited = outcome;
            edit(&mut edited);
            assert_eq!(
                rejected_for(&edited, CounterAndPmf),
                Some(reason),
                "{edited:?}"
            );
        }
    }
    // Without PMF, the call must not start before the wake-up is due.
    let mut early = version;
    set_due(&mut early, 311);
    assert_eq!(rejected_for(&early, Counter), Some(EarlyWake));
    let stale = Outcome {
        before: at(321),
        ..version
    };
    assert_eq!(rejected_for(&stale, CounterAndPmf), Some(Stale));
    // Only PSCI_VERSION returns a number.
    let number = woken_outcome(SingleCall::ReadStamp, 0x1_0001);
    assert_eq!(rejected_for(&number, CounterAndPmf), Some(Refused));
}

/// Returns the reason for which the outcome is rejected, if it is.
fn rejected_for(outcome: &Outcome, times: TimeSource) -> Option<Reason> {
    let rejection = outcome.judge(times).err()?;
    Some(rejection.reason)
}

type Edit = fn(&mut Outcome);

fn version(outcome: &mut Outcome, code: i32) {
    *outcome = Outcome {
        end: ActionEnd::Returned,
        code: Some(code),
        ..good_for(Action::Version)
    };
}

fn lose(outcome: &mut Outcome) {
    let (phase, cause) = (RoundPhase::Finish, Cause::Timeout);
    outcome.end = ActionEnd::Lost(Loss { phase, cause });
}

fn late(outcome: &mut Outcome) {
    outcome.end = ActionEnd::WokenByFallback;
}

fn wake_early(outcome: &mut Outcome) {
    set_stamp(outcome, Stamp::ExitHwLowPwr, 289);
}

fn keep_old_flush(outcome: &mut Outcome) {
    set_stamp(outcome, Stamp::EnterCflush, 50);
}

fn read_back(outcome: &mut Outcome, lead_active_at: u64) {
    *outcome = Outcome {
        end: ActionEnd::ReadBack,
        details: ActionDetails::PowerCycle(PowerCycle {
            lead_active_at: at(lead_active_at),
            turned_on: at(200),
            ..PowerCycle::default()
        }),
        ..good_for(Action::ReadBack)
    };
}

/// Checks whether the good outcome is rejected, and why, after each edit.
fn check_edits(edits: &[(Edit, Option<Reason>)], times: TimeSource) {
    for (edit, expected_reason) in edits {
        let mut outcome = good();
        edit(&mut outcome);
        assert_eq!(
            rejected_for(&outcome, times),
            *expected_reason,
            "{outcome:?}"
        );
    }
}

#[test]
fn each_rule_of_an_outcome_with_pmf() {
    use Reason::*;
    let edits: [(Edit, Option<Reason>); 20] = [
        (|outcome| outcome.end = ActionEnd::Returned, Some(Abandoned)),
        (|outcome| outcome.code = Some(-2), Some(Refused)),
        (|outcome| outcome.code = Some(5), Some(Refused)),
        (|outcome| outcome.code = Some(0), None),
        (|outcome| outcome.end = ActionEnd::Pending, Some(Pending)),
        (late, Some(WokenByFallback)),
        (|outcome| outcome.before = None, Some(CounterErratum)),
        (|outcome| outcome.returned_at = None, Some(CounterErratum)),
        (|outcome| outcome.end = ActionEnd::NotRun, Some(Lost)),
        (lose, Some(Lost)),
        (
            |outcome| outcome.end = ActionEnd::WrongContext,
            Some(WrongContext),
        ),
        (|outcome| set_due(outcome, 320), Some(EarlyWake)),
        (|outcome| set_due(outcome, 360), Some(EarlyWake)),
        (
            |outcome| outcome.stamps = Err(ReadError::Code(5)),
            Some(PmfRead),
        ),
        (keep_old_flush, Some(Stale)),
        // A wake-up that happens exactly when it is due is not early.
        (|outcome| set_due(outcome, 300), None),
        // The lead was active again before CPU_OFF was complete.
        (|outcome| read_back(outcome, 160), Some(Overlap)),
        (|outcome| read_back(outcome, 161), None),
        // Other CPUs were active again before this CPU had returned.
        (|outcome| outcome.quiet_end = at(349), Some(LateReturn)),
        (|outcome| outcome.quiet_end = at(350), None),
    ];
    check_edits(&edits, CounterAndPmf);
}

/// Without PMF, only the wake-up time matters.
#[test]
fn each_rule_of_an_outcome_without_pmf() {
    use Reason::*;
    let edits: [(Edit, Option<Reason>); 9] = [
        (|outcome| set_due(outcome, 350), None),
        (
            |outcome| {
                set_due(outcome, 350);
                outcome.end = ActionEnd::Returned;
            },
            None,
        ),
        (|outcome| outcome.stamps = Ok(Stamps::default()), None),
        (
            |outcome| {
                set_due(outcome, 351);
                outcome.end = ActionEnd::Returned;
            },
            Some(Abandoned),
        ),
        (|outcome| set_due(outcome, 351), Some(EarlyWake)),
        // A version is a valid return value; an error code is not.
        (|outcome| version(outcome, 0x1_0001), None),
        (|outcome| version(outcome, -1), Some(Refused)),
        (|outcome| outcome.quiet_end = at(349), Some(LateReturn)),
        // An erratum corrupted the CPU's first read after CPU_ON.
        (
            |outcome| {
                *outcome = Outcome {
                    end: ActionEnd::WentOff,
                    ..good_for(Action::TimedOff { floods: false })
                }
            },
            Some(CounterErratum),
        ),
    ];
    check_edits(&edits, Counter);
}
