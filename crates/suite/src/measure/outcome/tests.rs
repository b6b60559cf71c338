//! Outcomes that count, and those that are rejected.

use super::*;
use crate::measure::{Cause, Preparation, RoundPhase};

fn at(number: u64) -> Option<CounterValue> {
    CounterValue::new(number)
}

fn good() -> Outcome {
    Outcome {
        action: Action::SystemSuspend,
        end: ActionEnd::Resumed,
        start: at(95),
        before: at(100),
        returned_at: at(350),
        due: at(290),
        stamps: Stamps::new([110, 340, 160, 300, 120, 150]),
        ..Outcome::default()
    }
}

#[test]
fn a_good_suspend_counts_and_has_its_figures() {
    use Metric::{CacheFlush, Call, Latency, Powerdown, Wake, Wakeup};
    let outcome = good();
    assert_eq!(outcome.judge(true), Ok(()));
    let metrics = [Powerdown, Wakeup, CacheFlush, Latency, Call, Wake];
    let figures = metrics.map(|metric| outcome.metric(metric, true).unwrap_or(0));
    assert_eq!(figures, [50, 40, 30, 0, 250, 60]);
    assert_eq!(outcome.metric(Powerdown, false), None);
    // Standby has no flush, and PSCI_VERSION has only a latency.
    let mut standby = good();
    standby.action = Action::Suspend {
        power_state: 0,
        powerdown: false,
    };
    assert_eq!(standby.metric(CacheFlush, true), None);
    let mut version = good();
    version.action = Action::Version;
    let of_version = [Powerdown, Latency, Wakeup, Wake].map(|metric| version.metric(metric, true));
    assert_eq!(of_version, [None, Some(230), None, None]);
}

/// The sleep comes before the timed call, so only the call's own figures exist, and only the
/// timestamps of PSCI_VERSION must lie within the call.
#[test]
fn a_call_after_a_wake_up_is_no_suspend() {
    use Metric::{Call, Latency, Powerdown, Wake, Wakeup};
    let preparation = Preparation::Suspend {
        power_state: 2,
        powerdown: true,
    };
    let woken_outcome = |call| Outcome {
        action: Action::ColdCall { call, preparation },
        code: Some(0x1_0001),
        before: at(310),
        // ENTER_PSCI and EXIT_PSCI belong to the call; the other timestamps are still from the
        // suspend.
        stamps: Stamps::new([320, 340, 160, 300, 120, 150]),
        ..good()
    };
    let version = woken_outcome(SingleCall::Version);
    let stamp = Outcome {
        code: Some(0),
        ..woken_outcome(SingleCall::ReadStamp)
    };
    for (outcome, expected) in [
        (version, [None, None, None, Some(20), Some(40)]),
        (stamp, [None, None, None, None, Some(40)]),
    ] {
        assert_eq!(outcome.judge(true), Ok(()));
        let metrics = [Powerdown, Wakeup, Wake, Latency, Call];
        let figures = metrics.map(|metric| outcome.metric(metric, true));
        assert_eq!(figures, expected, "{:?}", outcome.action);
    }
    use Reason::*;
    let edits: [(Edit, Reason); 5] = [
        (|outcome| outcome.end = ActionEnd::Returned, Abandoned),
        (|outcome| outcome.code = Some(-2), Refused),
        (|outcome| outcome.due = at(301), EarlyWake),
        (wake_early, EarlyWake),
        (|outcome| outcome.quiet_until = at(349), LateReturn),
    ];
    for outcome in [version, stamp] {
        for (edit, reason) in edits {
            let mut edited = outcome;
            edit(&mut edited);
            let verdict = edited.judge(true).map_err(|rejection| rejection.reason);
            assert_eq!(verdict, Err(reason), "{edited:?}");
        }
    }
    // Without PMF, the call must not start before the wake-up is due.
    let early = Outcome {
        due: at(311),
        ..version
    };
    assert_eq!(early.judge(false), Err(Rejection::plain(EarlyWake)));
    let stale = Outcome {
        before: at(321),
        ..version
    };
    assert_eq!(
        stale.judge(true).map_err(|rejection| rejection.reason),
        Err(Stale)
    );
    // Only PSCI_VERSION returns a number.
    let number = woken_outcome(SingleCall::ReadStamp);
    assert_eq!(
        number.judge(true).map_err(|rejection| rejection.reason),
        Err(Refused)
    );
}

type Edit = fn(&mut Outcome);

fn version(outcome: &mut Outcome, code: i32) {
    (outcome.action, outcome.end) = (Action::Version, ActionEnd::Returned);
    outcome.code = Some(code);
}

fn lose(outcome: &mut Outcome) {
    let (phase, cause) = (RoundPhase::Finish, Cause::Timeout);
    outcome.end = ActionEnd::Lost(Loss { phase, cause });
}

fn late(outcome: &mut Outcome) {
    outcome.end = ActionEnd::WokenByFallback;
}

fn wake_early(outcome: &mut Outcome) {
    outcome.stamps.set(Stamp::ExitHwLowPwr, 289);
}

fn keep_old_flush(outcome: &mut Outcome) {
    outcome.stamps.set(Stamp::EnterCflush, 50);
}

fn read_back(outcome: &mut Outcome, due: u64) {
    (outcome.action, outcome.end) = (Action::ReadBack, ActionEnd::ReadBack);
    (outcome.turned_on, outcome.due) = (at(200), at(due));
}

#[test]
fn each_rule_of_an_outcome() {
    use Reason::*;
    let with_pmf: [(Edit, Option<Reason>); 20] = [
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
        (|outcome| outcome.due = at(320), Some(EarlyWake)),
        (|outcome| outcome.due = at(360), Some(EarlyWake)),
        (
            |outcome| outcome.stamps_error = Some(ReadError::Code(5)),
            Some(PmfRead),
        ),
        (keep_old_flush, Some(Stale)),
        // A wake-up that happens exactly when it is due is not early.
        (|outcome| outcome.due = at(300), None),
        // The lead was active again before CPU_OFF was complete.
        (|outcome| read_back(outcome, 160), Some(Overlap)),
        (|outcome| read_back(outcome, 161), None),
        // Other CPUs were active again before this CPU had returned.
        (|outcome| outcome.quiet_until = at(349), Some(LateReturn)),
        (|outcome| outcome.quiet_until = at(350), None),
    ];
    // Without PMF, only the wake-up time matters.
    let without: [(Edit, Option<Reason>); 9] = [
        (|outcome| outcome.due = at(350), None),
        (
            |outcome| (outcome.due, outcome.end) = (at(350), ActionEnd::Returned),
            None,
        ),
        (|outcome| outcome.stamps = Stamps::default(), None),
        (
            |outcome| (outcome.due, outcome.end) = (at(351), ActionEnd::Returned),
            Some(Abandoned),
        ),
        (|outcome| outcome.due = at(351), Some(EarlyWake)),
        // A version is a valid return value; an error code is not.
        (|outcome| version(outcome, 0x1_0001), None),
        (|outcome| version(outcome, -1), Some(Refused)),
        (|outcome| outcome.quiet_until = at(349), Some(LateReturn)),
        // An erratum corrupted the CPU's first read after CPU_ON.
        (
            |outcome| {
                (outcome.action, outcome.end) =
                    (Action::TimedOff { floods: false }, ActionEnd::WentOff)
            },
            Some(CounterErratum),
        ),
    ];
    let check = |(edit, expected_reason): (Edit, Option<Reason>), pmf| {
        let mut outcome = good();
        edit(&mut outcome);
        let reason = outcome.judge(pmf).err().map(|rejection| rejection.reason);
        assert_eq!(reason, expected_reason, "{outcome:?}");
    };
    with_pmf.into_iter().for_each(|rule| check(rule, true));
    without.into_iter().for_each(|rule| check(rule, false));
}
