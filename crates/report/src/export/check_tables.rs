//! Tables of checks, one row for each result.

use suite::model::{Check, Probe, Scenario};

use crate::analysis::value_text::cpus_text;
use crate::log::LoggedRun;
use suite::output::Table;

/// Returns a table of the functions that were called and a table of those that are only listed.
/// Empty tables are left out.
pub(super) fn check_tables(logged: &LoggedRun, scenario: &Scenario) -> impl Iterator<Item = Table> {
    let tables = [("called", false), ("not called", true)].map(|(word, is_listing)| {
        let mut table = Table::titled(format!("Firmware functions that were {word}"));
        table.words(["Function"]);
        table.optional_words(["Check", "At"]);
        table.end_names();
        table.words(["Promised", "Result"]);
        table.optional_words(["Returned", "CPUs"]);
        let checks = scenario.checks.iter();
        let in_table = checks.filter(|check| (check.probe == Probe::Listed) == is_listing);
        table.rows.extend(in_table.map(|check| row(logged, check)));
        table.finished()
    });
    tables.into_iter().flatten()
}

fn row(logged: &LoggedRun, check: &Check) -> Vec<String> {
    vec![
        check.function.name().to_owned(),
        what(check),
        check.value_text().unwrap_or_default(),
        check.promised_word().to_owned(),
        check.result().to_owned(),
        check
            .shown_answer()
            .map_or_else(String::new, |answer| answer.to_string()),
        cpus(logged, check),
    ]
}

/// Returns what was checked, or an empty string for a function that is only listed.
fn what(check: &Check) -> String {
    match check.probe {
        Probe::Listed => String::new(),
        probe => probe.title().to_owned(),
    }
}

fn cpus(logged: &LoggedRun, check: &Check) -> String {
    if check.cpus.is_empty() {
        String::new()
    } else {
        cpus_text(&logged.run, check.cpus.iter())
    }
}
