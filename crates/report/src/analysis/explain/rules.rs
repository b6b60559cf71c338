//! All rules.

use super::explanation::Explanation;
use super::suite_tables::SuiteTables;
use crate::analysis::conditions::is_ambiguous;
use crate::log::LoggedRun;

/// A function that returns an explanation if the figures support every part of its sentence.
type Rule = fn(&SuiteTables<'_>) -> Option<Explanation>;

/// All rules, in output order: waits, then flushes, then differences between scenarios and between
/// CPUs.
const RULES: &[Rule] = &[
    super::entry_queue::explain,
    super::platform_lock::explain,
    super::uniform_exits::explain,
    super::last_flush::explain,
    super::extra_flush::explain,
    super::flush_by_size::explain,
    super::lead_cluster::explain,
    super::best_case::explain,
    super::cluster_exit::explain,
    super::cpu_off_exit::explain,
    super::cpu_types::explain,
    super::unlike_twin::explain,
];

/// Returns the explanations supported by a run's tables. The list is empty if any of the run's
/// records are missing or if two CPUs have the same label.
pub fn explanations(logged: &LoggedRun) -> Vec<Explanation> {
    let is_damaged = logged.integrity.records.is_some() && !logged.integrity.is_whole();
    if is_damaged || is_ambiguous(&logged.run) {
        return Vec::new();
    }
    let tables = SuiteTables::of(logged);
    RULES
        .iter()
        .filter_map(|explain| explain(&tables))
        .collect()
}
