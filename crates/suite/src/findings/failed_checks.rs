//! Firmware functions that do not behave as specified.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::subject::Subject;
use crate::measure::{Detail, EntryState, Reason, Rejection, StressViolation};
use crate::model::{Check, CheckEnd, Finding, FindingKind, Run};

/// A check that failed.
pub const FAILED_CHECK: FindingKind = FindingKind::new("failed-check");

/// Finds the checks that failed.
pub(super) fn find_failed_checks(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let finding =
        |check: &Check| Finding::by_counts(FAILED_CHECK, sentence(run, check), check.cpus.iter());
    let failed = scenario.checks.iter().filter(|check| check.has_failed());
    failed.map(finding).collect()
}

fn sentence(run: &Run, check: &Check) -> String {
    let (subject, section) = (check.subject(&run.cpus), check.section());
    let what = describe_failure(check);
    format!("{subject}: {what} ({section}).")
}

/// Returns a clause about what went wrong in a check that failed; empty if it did not fail.
pub fn describe_failure(check: &Check) -> String {
    match check.end {
        CheckEnd::WrongAnswer => wrong_answer(check),
        CheckEnd::NoEffect(rejection) => lacks_effect(&rejection),
        CheckEnd::WrongStatistics => {
            "the value does not match the state that the CPU must have reached".into()
        }
        CheckEnd::WrongEntry(EntryState { pstate, sctlr }) => {
            format!("the CPU was entered with PSTATE {pstate:#x} and SCTLR {sctlr:#x}")
        }
        CheckEnd::Violation(StressViolation { what, seed }) => {
            format!("with seed={seed}, {}", what.describe())
        }
        CheckEnd::ContextLost => {
            "the value has changed, although this state retains the CPU's context".into()
        }
        CheckEnd::Missing => "PSCI_FEATURES does not list this mandatory function".into(),
        CheckEnd::Works | CheckEnd::Tolerated | CheckEnd::NotCalled | CheckEnd::NotTried(_) => {
            String::new()
        }
    }
}

fn lacks_effect(rejection: &Rejection) -> String {
    let what = match (rejection.reason, rejection.detail) {
        (_, Detail::Loss(loss)) => return format!("{loss}"),
        (Reason::Abandoned, _) => "the call returned to its caller without powering down the CPU",
        (Reason::EarlyWake, _) => "the CPU was awake before its wake-up was due",
        (Reason::WokenByFallback, _) => "this interrupt did not wake the CPU, but a later SGI did",
        (Reason::WrongContext, _) => "the CPU came back with the wrong context ID",
        (Reason::Pending, _) => "an interrupt stayed pending, so the call was not made",
        (Reason::LateReturn, _) => "the CPU came back long after its wake-up was due",
        _ => return format!("{rejection}"),
    };
    what.into()
}

fn wrong_answer(check: &Check) -> String {
    let returned = match check.shown_answer() {
        Some(answer) => format!("the call returned {answer}"),
        None => "the call did not return the right value".into(),
    };
    match check.rule.permitted {
        Some(permitted) => format!("{returned}, but {permitted} was expected"),
        None => returned,
    }
}
