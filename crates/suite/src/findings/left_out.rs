//! Idle states in the device tree that a scenario could not use.

use alloc::string::String;
use alloc::vec::Vec;

use super::subject::Subject;
use crate::model::{Finding, FindingKind, LeftOutState, Skip, Status};
use crate::plan::UsedStates;

/// An idle state that is left out.
pub const LEFT_OUT: FindingKind = FindingKind::new("left-out-state");

/// Finds the idle states that are left out, if the scenario measures all states or was skipped for
/// lack of a state. The UART's header already names them.
pub(super) fn find_left_out(
    &Subject {
        run,
        scenario,
        verbosity,
    }: &Subject<'_>,
) -> Vec<Finding> {
    let lacks_state = matches!(
        scenario.status,
        Status::Skipped(Skip::NoIdleState | Skip::Undecided(_) | Skip::OtherFormat(_))
    );
    let is_affected = lacks_state || scenario.id.descriptor().states == UsedStates::All;
    if !verbosity.is_full() || !is_affected {
        return Vec::new();
    }
    let finding = |sentence| Finding::by_counts(LEFT_OUT, sentence, []);
    let states = run.left_out.iter().map(LeftOutState::sentence);
    states.map(capitalized).map(finding).collect()
}

fn capitalized(mut sentence: String) -> String {
    if sentence.starts_with("the ") {
        sentence.replace_range(..1, "T");
    }
    sentence
}
