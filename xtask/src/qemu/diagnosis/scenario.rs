//! Which scenario a log is in.

use psci_bench::plan::ScenarioId;

/// What the last line that begins a scenario names.
pub fn last_scenario(log: &str) -> Option<&str> {
    log.lines().rev().find_map(begun)
}

/// What comes behind the name where the method is not TFTF's.
const WARM: &str = ", CPUs kept on between samples";

/// The scenario that `line` begins: `> Executing '…'`, or a title outside
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
