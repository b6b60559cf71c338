//! Why a run has no last line.

use std::time::Duration;

use follow::stream::MachineEnding;
use follow::{explain_marks, last_scenario};
use host::progress::in_words;
use runner::qemu::machine_process::MachineResult;

/// The number of lines of gem5's messages that are shown.
const LINES: usize = 12;
/// Parts of the line in which gem5 or Python says what is wrong. A stack trace follows it.
const CAUSES: [&str; 4] = ["fatal: ", "panic: ", "Assertion ", "Error: "];

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
    let messages = last_messages(&result.stderr);
    match &messages[..] {
        [] => format!("{ended}; {reached}"),
        _ => format!(
            "{ended}; {reached}; gem5's last messages:\n{}",
            messages.join("\n")
        ),
    }
}

/// Returns the message that says what is wrong, or else the last messages.
fn last_messages(stderr: &str) -> Vec<&str> {
    let lines: Vec<&str> = stderr.trim().lines().collect();
    let is_cause = |line: &&str| CAUSES.iter().any(|cause| line.contains(cause));
    let last = lines.len().saturating_sub(LINES);
    let first = lines.iter().position(is_cause).unwrap_or(last);
    lines.into_iter().skip(first).take(LINES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_comes_before_the_stack_trace() {
        let trace = "  frame\n".repeat(20);
        let stderr = format!("warn: x\nNameError: no y\n\nAt:\n{trace}");
        let shown = last_messages(&stderr);
        assert_eq!((shown.len(), shown[0]), (LINES, "NameError: no y"));
        assert_eq!(last_messages("warn: x\nwarn: y\n"), ["warn: x", "warn: y"]);
        assert!(last_messages("").is_empty());
    }
}
