//! Tests the `fitness` scenario on the fake machine.

use crate::measure::{Cause, Loss, RoundPhase};
use crate::model::{Check, CheckEnd, Probe};
use hardware::spec::pmf::{ReadError, Stamps};
use hardware::spec::psci::ReturnCode;
use smccc::psci::error::{DENIED, NOT_SUPPORTED};

use super::*;

const STANDBY: u32 = 1;

fn check(fake: Fake, args: &str) -> Ran {
    run(fake, &std::format!("only=fitness {args}"))
}

impl Ran {
    fn checks(&self) -> &[Check] {
        &self.of(ScenarioId::named("fitness")).checks
    }

    /// Returns the function, the probe and the CPUs of each failed check.
    fn failed_checks(&self) -> Vec<(Function, Probe, Vec<usize>)> {
        let failed = self.checks().iter().filter(|check| check.has_failed());
        let cpus = |check: &Check| check.cpus.iter().map(CpuIndex::index).collect();
        failed
            .map(|check| (check.function, check.probe, cpus(check)))
            .collect()
    }
}

/// Returns an edit for [`Fake::with_answers`] that makes a function return `code`.
fn answering(function: Function, code: i32) -> impl FnMut(u32, u64, i32) -> i32 {
    move |id, _, right_answer| {
        if id == function.id() {
            code
        } else {
            right_answer
        }
    }
}

#[test]
fn correct_firmware_passes_every_check() {
    let ran = check(Fake::new(8), "fitness=destructive");
    assert_eq!(ran.failed_checks(), []);
    assert_eq!(ran.statuses(), [Status::Passed]);
    for (function, probe, cpus) in [
        (Function::CpuOn, Probe::Arrives, 7),
        (Function::CpuOn, Probe::Pending, 7),
        (Function::CpuOn, Probe::AlreadyOn, 8),
        (Function::CpuOff, Probe::GoesOff, 7),
        (Function::AffinityInfo, Probe::IsOn, 8),
        (Function::AffinityInfo, Probe::IsOff, 7),
        (Function::CpuSuspend, Probe::Sgi, 8),
        (Function::CpuSuspend, Probe::OwnTimer, 8),
        (Function::CpuSuspend, Probe::TimerKept, 8),
        (Function::CpuSuspend, Probe::InterruptsKept, 8),
        (Function::CpuOn, Probe::Again, 1),
        (Function::CpuOn, Probe::WrongAddress, 1),
        (Function::CpuOn, Probe::WrongMpidr, 0),
    ] {
        let is_same = |check: &&Check| (check.function, check.probe) == (function, probe);
        let Some(check) = ran.checks().iter().find(is_same) else {
            panic!("{function:?} {probe:?}");
        };
        assert_eq!(check.end, CheckEnd::Works, "{check:?}");
        assert_eq!(check.cpus.iter().count(), cpus, "{check:?}");
    }
    // There are two states and ten pauses.
    let count = |probe| {
        let checks = ran.checks().iter();
        checks.filter(|check| check.probe == probe).count()
    };
    assert_eq!((count(Probe::Sgi), count(Probe::Again)), (2, 10));
}

#[test]
fn wrong_arguments_are_only_passed_if_requested() {
    let ran = check(Fake::new(2), "");
    let wrong = [Probe::WrongMpidr, Probe::WrongAddress, Probe::WrongMode];
    assert!(
        !ran.checks()
            .iter()
            .any(|check| wrong.contains(&check.probe))
    );
}

#[test]
fn each_wrong_answer_fails_its_own_check() {
    for (function, code, probe, cpus) in [
        (Function::PsciVersion, 0x1_0005, Probe::Answer, &[][..]),
        (Function::MigrateInfoType, 3, Probe::Answer, &[]),
        (Function::CpuOn, DENIED, Probe::AlreadyOn, &[0, 1, 2]),
    ] {
        let ran = check(Fake::new(3).with_answers(answering(function, code)), "");
        assert_eq!(ran.failed_checks(), [(function, probe, cpus.to_vec())]);
        let first = Failure::CheckFailed {
            function,
            probe,
            failed: 1,
        };
        assert_eq!(ran.failure(), Some(first));
    }
}

#[test]
fn mandatory_function_that_is_not_listed_is_missing() {
    let answer = |id, first_argument, right_answer| {
        let is_about_cpu_off =
            id == Function::PsciFeatures.id() && first_argument == u64::from(Function::CpuOff.id());
        if is_about_cpu_off {
            NOT_SUPPORTED
        } else {
            right_answer
        }
    };
    let ran = check(Fake::new(2).with_answers(answer), "");
    let expected = (Function::CpuOff, Probe::Listed, Vec::new());
    assert_eq!(ran.failed_checks(), [expected]);
}

#[test]
fn cpu_that_does_not_arrive_is_named_with_the_code_of_cpu_on() {
    let loss = Loss {
        phase: RoundPhase::Arrive,
        cause: Cause::Timeout,
    };
    let fake = Fake::new(4).with(move |_, cpu, outcome| {
        if cpu.index() == 2 {
            outcome.end = ActionEnd::Lost(loss);
        }
    });
    let ran = check(fake, "");
    let expected = (Function::CpuOn, Probe::Arrives, [2].to_vec());
    assert_eq!(ran.failed_checks(), [expected]);
    let mut checks = ran.checks().iter();
    let failed = checks.find(|check| check.has_failed());
    assert_eq!(failed.expect("a failed check").answer, Some(0));
    assert_eq!(ran.totals.lost, 1);
    // The other CPUs are still checked.
    let mut by_sgi = ran
        .checks()
        .iter()
        .filter(|check| check.probe == Probe::Sgi);
    assert!(by_sgi.all(|check| check.cpus.iter().count() == 3));
}

/// A CPU that does not come back from its second CPU_ON says nothing about CPU_SUSPEND, and one
/// that is lost on its way down after a suspend says nothing, either.
#[test]
fn loss_before_or_after_the_suspend_is_that_calls_failure() {
    let firmware = Cause::Firmware(ReturnCode::from(Error::Denied));
    for (phase, cause, expected) in [
        (
            RoundPhase::TurnOn,
            firmware,
            (Function::CpuOn, Probe::Arrives),
        ),
        (
            RoundPhase::Arrive,
            Cause::Timeout,
            (Function::CpuOn, Probe::Arrives),
        ),
        (
            RoundPhase::Begin,
            Cause::Exception,
            (Function::CpuOn, Probe::Arrives),
        ),
        (
            RoundPhase::TurnOff,
            Cause::Timeout,
            (Function::CpuOff, Probe::GoesOff),
        ),
        (
            RoundPhase::TurnOff,
            firmware,
            (Function::AffinityInfo, Probe::IsOff),
        ),
        (
            RoundPhase::Finish,
            Cause::Exception,
            (Function::CpuSuspend, Probe::OwnTimer),
        ),
    ] {
        let loss = Loss { phase, cause };
        let fake = Fake::new(3).with_trials(move |cpu, outcome| {
            if cpu.index() == 1 {
                outcome.end = ActionEnd::Lost(loss);
            }
        });
        let ran = check(fake, "");
        let failed = ran.failed_checks();
        assert_eq!(failed, [(expected.0, expected.1, [1].to_vec())], "{loss:?}");
        let is_not_tried = |check: &&Check| {
            check.function == Function::CpuSuspend && matches!(check.end, CheckEnd::NotTried(_))
        };
        let not_tried = ran.checks().iter().filter(is_not_tried).count();
        assert_eq!(
            not_tried,
            usize::from(phase != RoundPhase::Finish),
            "{loss:?}"
        );
    }
}

#[test]
fn state_that_loses_two_cpus_is_not_tried_on_more() {
    let fake = Fake::new(6).with(|_, cpu, outcome| {
        let is_deep = suspends(outcome.action, CLUSTER);
        if is_deep && cpu.index() > 0 {
            outcome.end = ActionEnd::Lost(LOSS);
        }
    });
    let ran = check(fake, "");
    let expected = (Function::CpuSuspend, Probe::Sgi, [1, 2].to_vec());
    assert_eq!(ran.failed_checks(), [expected]);
    assert_eq!(ran.totals.lost, 2);
}

#[test]
fn only_standby_must_keep_the_context() {
    let fake = Fake::new(2).with_trials(|cpu, outcome| {
        if cpu.index() == 1
            && let ActionDetails::Suspend(suspended) = &mut outcome.details
            && let Some(kept) = &mut suspended.kept
        {
            kept.private_interrupts = false;
        }
    });
    let states = [state("standby", STANDBY, 0), STATES[0], STATES[1]];
    let ran = run_with(fake, "only=fitness", &states);
    let checks_with_end = |check_end| {
        ran.checks()
            .iter()
            .filter(|check| check.end == check_end)
            .map(|check| (check.probe, check.value, check.cpus.iter().count()))
            .collect::<Vec<_>>()
    };
    let lost_interrupts = |power_state| (Probe::InterruptsKept, Some(power_state), 1);
    assert_eq!(
        checks_with_end(CheckEnd::ContextLost),
        [lost_interrupts(STANDBY)]
    );
    assert_eq!(
        checks_with_end(CheckEnd::Tolerated),
        [lost_interrupts(CORE), lost_interrupts(CLUSTER)]
    );
    let expected = (Function::CpuSuspend, Probe::InterruptsKept, [1].to_vec());
    assert_eq!(ran.failed_checks(), [expected]);
}

/// Only the PSCI checks count. A CPU whose timestamps are wrong may still have slept.
#[test]
fn wrong_timestamps_do_not_fail_a_suspend() {
    for stamps in [Err(ReadError::NotImplemented), Ok(Stamps::new([1; 6]))] {
        let spoil = move |outcome: &mut Outcome| outcome.stamps = stamps;
        let fake = Fake::new(2)
            .with(move |_, _, outcome| spoil(outcome))
            .with_trials(move |_, outcome| spoil(outcome));
        assert_eq!(check(fake, "").statuses(), [Status::Passed]);
    }
}

#[test]
fn without_gic_or_second_cpu_checks_are_not_tried() {
    let not_tried = |fake, reason| {
        let ran = check(fake, "");
        let mut ends = ran.checks().iter().map(|check| check.end);
        assert!(
            ends.any(|check_end| check_end == CheckEnd::NotTried(reason)),
            "{reason:?}"
        );
        assert_eq!(ran.statuses(), [Status::Passed]);
    };
    not_tried(Fake::new(2).without_gic(), Skip::NoGic);
    not_tried(Fake::new(1), Skip::OneCpu);
}
