//! Which scenario a log is in.

use psci_bench::plan::ScenarioId;

/// Returns the scenario that the last such line begins.
pub fn last_scenario(log: &str) -> Option<&str> {
    log.lines().rev().find_map(begun)
}

/// The words after the name if the method is not TFTF's.
const WARM: &str = ", CPUs kept on between samples";

/// Returns the scenario that `line` begins: `> Executing '…'`, or a title outside
/// TFTF's frame.
pub(super) fn begun(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if let Some(rest) = line.strip_prefix("> Executing '") {
        return rest.strip_suffix('\'');
    }
    let warm = line.strip_suffix(WARM);
    let name = warm.unwrap_or(line);
    let mut all = ScenarioId::ALL.into_iter();
    all.any(|id| id.name() == name && id.is_suite() == warm.is_some())
        .then_some(line)
}
