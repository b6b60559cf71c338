//! Tables of checks, one row for each result.

use suite::model::{Check, Rule, Scenario};
use suite::output::Table;

use crate::analysis::value_text::cpus_text;
use crate::log::LoggedRun;

/// Returns a table of the functions that were called and a table of those that are only listed.
/// Empty tables are left out.
pub(super) fn check_tables(logged: &LoggedRun, scenario: &Scenario) -> impl Iterator<Item = Table> {
    let mut called = check_table("Firmware functions that were called");
    let mut not_called = check_table("Firmware functions that were not called");
    for check in &scenario.checks {
        let table = if check.rule == Rule::LISTED {
            &mut not_called
        } else {
            &mut called
        };
        table.rows.push(row(logged, check));
    }
    let tables = [called.finished(), not_called.finished()];
    tables.into_iter().flatten()
}

/// Returns a table without rows.
fn check_table(title: &str) -> Table {
    let mut table = Table::titled(title);
    table.words(["Function"]);
    table.optional_words(["Check", "At"]);
    table.end_names();
    table.words(["Promised", "Result"]);
    table.optional_words(["Returned", "CPUs"]);
    table
}

fn row(logged: &LoggedRun, check: &Check) -> Vec<String> {
    vec![
        check.function.name().to_owned(),
        rule_title(check),
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
fn rule_title(check: &Check) -> String {
    if check.rule == Rule::LISTED {
        String::new()
    } else {
        check.rule.title.to_owned()
    }
}

fn cpus(logged: &LoggedRun, check: &Check) -> String {
    if check.cpus.is_empty() {
        String::new()
    } else {
        cpus_text(&logged.run, check.cpus.iter())
    }
}
