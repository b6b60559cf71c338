//! The reasons to treat a run's figures with caution.

use hardware::text::plural::many;

use crate::log::LoggedRun;

/// Returns the reasons to treat the figures with caution, as clauses.
pub(super) fn warnings(logged: &LoggedRun) -> Vec<String> {
    let integrity = &logged.integrity;
    let mut clauses = logged.lacks();
    if integrity.guessed_cpus > 0 {
        clauses.push(format!(
            "made-up labels (65535.N) for {} whose record was lost",
            many(integrity.guessed_cpus as usize, "CPU")
        ));
    }
    clauses.extend(logged.doubts());
    clauses
}
