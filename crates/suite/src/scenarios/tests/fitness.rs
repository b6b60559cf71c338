//! Tests the `fitness` scenario on the fake machine.

use crate::measure::{Cause, Loss, RoundPhase};
use crate::model::{Check, CheckEnd, Rule};
use hardware::spec::pmf::{ReadError, Stamps};
use hardware::spec::psci::ReturnCode;
use smccc::psci::error::{DENIED, NOT_SUPPORTED};

use super::*;
use crate::scenarios::rules;
use crate::testing::documented::check_table;

const STANDBY: u32 = 1;

fn check(fake: Fake, args: &str) -> Ran {
    run(fake, &std::format!("only=fitness {args}"))
}

impl Ran {
    fn checks(&self) -> &[Check] {
        &self.of(ScenarioId::named("fitness")).checks
    }

    /// Returns the function, the rule's key and the CPUs of each failed check.
    fn failed_checks(&self) -> Vec<(Function, &'static str, Vec<usize>)> {
        let failed = self.checks().iter().filter(|check| check.has_failed());
        let cpus = |check: &Check| check.cpus.iter().map(CpuIndex::index).collect();
        failed
            .map(|check| (check.function, check.rule.key, cpus(check)))
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
    for (function, rule, cpus) in [
        (Function::CpuOn, "arrives", 7),
        (Function::CpuOn, "pending", 7),
        (Function::CpuOn, "already-on", 8),
        (Function::CpuOff, "goes-off", 7),
        (Function::AffinityInfo, "is-on", 8),
        (Function::AffinityInfo, "is-off", 7),
        (Function::CpuSuspend, "sgi", 8),
        (Function::CpuSuspend, "own-timer", 8),
        (Function::CpuSuspend, "timer-kept", 8),
        (Function::CpuSuspend, "interrupts-kept", 8),
        (Function::CpuOn, "again", 1),
        (Function::CpuOn, "wrong-address", 1),
        (Function::CpuOn, "wrong-mpidr", 0),
    ] {
        let is_same = |check: &&Check| (check.function, check.rule.key) == (function, rule);
        let Some(check) = ran.checks().iter().find(is_same) else {
            panic!("{function:?} {rule:?}");
        };
        assert_eq!(check.end, CheckEnd::Works, "{check:?}");
        assert_eq!(check.cpus.iter().count(), cpus, "{check:?}");
    }
    // There are two states and ten pauses.
    let count = |rule| {
        let checks = ran.checks().iter();
        checks.filter(|check| check.rule.key == rule).count()
    };
    assert_eq!((count("sgi"), count("again")), (2, 10));
}

#[test]
fn wrong_arguments_are_only_passed_if_requested() {
    let ran = check(Fake::new(2), "");
    let wrong = ["wrong-mpidr", "wrong-address", "wrong-mode"];
    assert!(
        !ran.checks()
            .iter()
            .any(|check| wrong.contains(&check.rule.key))
    );
}

#[test]
fn each_wrong_answer_fails_its_own_check() {
    for (function, code, rule, cpus) in [
        (Function::PsciVersion, 0x1_0005, "answer", &[][..]),
        (Function::MigrateInfoType, 3, "answer", &[]),
        (Function::CpuOn, DENIED, "already-on", &[0, 1]),
    ] {
        let ran = check(Fake::new(2).with_answers(answering(function, code)), "");
        assert_eq!(ran.failed_checks(), [(function, rule, cpus.to_vec())]);
        let first = Failure::CheckFailed {
            function,
            rule: Rule::named(rule),
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
    let expected = (Function::CpuOff, "listed", Vec::new());
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
    let expected = (Function::CpuOn, "arrives", [2].to_vec());
    assert_eq!(ran.failed_checks(), [expected]);
    let mut checks = ran.checks().iter();
    let failed = checks.find(|check| check.has_failed());
    assert_eq!(failed.expect("a failed check").answer, Some(0));
    assert_eq!(ran.totals.lost, 1);
    // The other CPUs are still checked.
    let mut by_sgi = ran.checks().iter().filter(|check| check.rule.key == "sgi");
    assert!(by_sgi.all(|check| check.cpus.iter().count() == 3));
}

/// A CPU that does not come back from its second CPU_ON says nothing about CPU_SUSPEND, and one
/// that is lost on its way down after a suspend says nothing, either.
#[test]
fn loss_before_or_after_the_suspend_is_that_calls_failure() {
    let firmware = Cause::Firmware(ReturnCode::from(Error::Denied));
    for (phase, cause, expected) in [
        (RoundPhase::TurnOn, firmware, (Function::CpuOn, "arrives")),
        (
            RoundPhase::Arrive,
            Cause::Timeout,
            (Function::CpuOn, "arrives"),
        ),
        (
            RoundPhase::Begin,
            Cause::Exception,
            (Function::CpuOn, "arrives"),
        ),
        (
            RoundPhase::TurnOff,
            Cause::Timeout,
            (Function::CpuOff, "goes-off"),
        ),
        (
            RoundPhase::TurnOff,
            firmware,
            (Function::AffinityInfo, "is-off"),
        ),
        (
            RoundPhase::Finish,
            Cause::Exception,
            (Function::CpuSuspend, "own-timer"),
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
    let expected = (Function::CpuSuspend, "sgi", [1, 2].to_vec());
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
            .map(|check| (check.rule.key, check.value, check.cpus.iter().count()))
            .collect::<Vec<_>>()
    };
    let lost_interrupts = |power_state| ("interrupts-kept", Some(power_state), 1);
    assert_eq!(
        checks_with_end(CheckEnd::ContextLost),
        [lost_interrupts(STANDBY)]
    );
    assert_eq!(
        checks_with_end(CheckEnd::Tolerated),
        [lost_interrupts(CORE), lost_interrupts(CLUSTER)]
    );
    let expected = (Function::CpuSuspend, "interrupts-kept", [1].to_vec());
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

/// The table in the documentation, which UPDATE_EXPECT=1 rewrites.
#[test]
fn every_rule_is_documented() {
    let mut table =
        std::string::String::from("| rule | what is required | DEN0022F |\n|---|---|---|\n");
    let mut keys = Vec::new();
    for rule in rules() {
        assert!(!keys.contains(&rule.key), "{rule:?} is listed twice");
        keys.push(rule.key);
        let section = rule.section.unwrap_or_default();
        table += &std::format!("| `{}` | {} | {section} |\n", rule.key, rule.statement);
    }
    check_table("fitness.md", &table);
}
