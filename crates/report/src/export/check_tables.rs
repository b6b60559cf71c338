//! A table of checks, one row for each result.

use run::model::{Check, Scenario};

use super::table::Table;
use crate::analysis::words::cpus_text;
use crate::log::LoggedRun;

/// Returns the scenario's checks, or None if it has none.
pub(super) fn check_table(run: &LoggedRun, scenario: &Scenario) -> Option<Table> {
    let mut table = Table::titled(scenario.id.name());
    table.words(["Function", "Check"]);
    table.optional_words(["At"]);
    table.words(["Promised", "Result"]);
    table.end_names();
    table.optional_words(["Returned", "CPUs"]);
    for check in &scenario.checks {
        table.rows.push(row(run, check));
    }
    table.finished()
}

fn row(run: &LoggedRun, check: &Check) -> Vec<String> {
    let promised = check
        .promised
        .map_or("unknown", |is| if is { "yes" } else { "no" });
    vec![
        check.function.name().to_owned(),
        check.probe.title().to_owned(),
        at(check),
        promised.to_owned(),
        check.result().to_owned(),
        check
            .shown_answer()
            .map_or_else(String::new, |answer| answer.to_string()),
        cpus(run, check),
    ]
}

/// Returns the level, `power_state` or pause.
fn at(check: &Check) -> String {
    match check.x {
        None => String::new(),
        Some(x) if check.probe.is_of_state() => format!("{x:#010x}"),
        Some(x) => x.to_string(),
    }
}

fn cpus(run: &LoggedRun, check: &Check) -> String {
    match check.cpus.is_empty() {
        true => String::new(),
        false => cpus_text(&run.run, check.cpus.iter()),
    }
}
