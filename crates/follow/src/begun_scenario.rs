//! Finds the lines in a log that start a scenario.

use suite::plan::{ScenarioId, WARM_TITLE};

/// Returns the scenario that was started last in `log`.
pub fn last_scenario(log: &str) -> Option<&str> {
    log.lines().rev().find_map(begun_scenario)
}

/// Returns the scenario that starts on `line`: `> Executing '…'`, or a title outside TFTF output.
pub fn begun_scenario(line: &str) -> Option<&str> {
    let title = line.trim_end();
    if let Some(rest) = title.strip_prefix("> Executing '") {
        return rest.strip_suffix('\'');
    }
    let warm = title.strip_suffix(WARM_TITLE);
    let name = warm.unwrap_or(title);
    ScenarioId::ALL
        .into_iter()
        .any(|id| id.name() == name && id.is_suite() == warm.is_some())
        .then_some(title)
}

/// Returns the tag of the scenario with this title, which is short enough for a progress line, or the
/// title if no scenario has it.
pub(super) fn short_name(title: &str) -> String {
    let warm = title.strip_suffix(WARM_TITLE);
    let name = warm.unwrap_or(title);
    match ScenarioId::ALL.into_iter().find(|id| id.name() == name) {
        Some(id) if warm.is_some() => format!("{}, method warm", id.short_tag()),
        Some(id) => id.short_tag().to_owned(),
        None => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_scenarios_are_shown_by_tag() {
        for (title, expected) in [
            ("CPU suspend on all cores in sequence", "cpu_susp_serial"),
            (
                "CPU suspend on all cores in sequence, CPUs kept on between samples",
                "cpu_susp_serial, method warm",
            ),
            ("A test of TFTF", "A test of TFTF"),
        ] {
            assert_eq!(short_name(title), expected);
        }
    }

    #[test]
    fn titles_begin_scenarios_and_headings_do_not() {
        let suite = "CPU suspend on all cores in sequence";
        let warm = format!("{suite}, CPUs kept on between samples");
        for (line, is_title) in [
            ("Calls to the firmware that do nothing", true),
            (&*warm, true),
            (suite, false),
            ("Something, CPUs kept on between samples", false),
            (".. table:: Calls to the firmware that do nothing", false),
        ] {
            let expected = if is_title { line } else { "A" };
            let log = format!("> Executing 'A'\r\n\r\n{line}\r\n");
            assert_eq!(last_scenario(&log), Some(expected));
        }
    }
}
