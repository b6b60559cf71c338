//! Why a run has no last line.

use std::time::Duration;

use follow::stream::MachineEnding;
use follow::{explain_marks, last_scenario};
use host::progress::in_words;
use runner::qemu::machine_process::MachineResult;

/// The number of lines of gem5's messages that are shown.
const LINES: usize = 12;

/// Describes how gem5 ended, how far the run got, and gem5's last messages.
pub(crate) fn diagnose(result: &MachineResult, limit: Duration) -> String {
    let ended = match result.ending {
        MachineEnding::Interrupted => return "interrupted".into(),
        MachineEnding::TimedOut => {
            format!("no closing line within {} (--timeout)", in_words(limit))
        }
        MachineEnding::Parked => "the closing line is damaged".into(),
        MachineEnding::Exited { .. } => "gem5 exited before the closing line".into(),
    };
    let log = String::from_utf8_lossy(&result.log);
    let reached = match (last_scenario(&log), explain_marks(&log)) {
        (Some(scenario), _) => format!("the last scenario started was '{scenario}'"),
        (None, Some(marks)) => marks,
        (None, None) => "no scenario was started".into(),
    };
    let messages: Vec<&str> = result.stderr.trim().lines().collect();
    let last = &messages[messages.len().saturating_sub(LINES)..];
    match last {
        [] => format!("{ended}; {reached}"),
        _ => format!(
            "{ended}; {reached}; gem5's last messages:\n{}",
            last.join("\n")
        ),
    }
}
