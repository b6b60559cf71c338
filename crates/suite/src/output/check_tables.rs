//! Two tables of checks. One shows the functions that were called and their results, and the other
//! shows the functions that are only listed.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::findings::list_first_few;
use crate::model::{Check, CheckEnd, Rule, Run, Scenario, Skip};
use hardware::text::prose::paragraph;

use super::table::{Table, TableStyle, text_or_absent, write_table};

/// Writes a scenario's checks, and the reasons why some were skipped. Writes nothing if there are
/// no checks.
pub(crate) fn write_check_tables(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
) -> fmt::Result {
    if scenario.checks.is_empty() {
        return Ok(());
    }
    let is_listing = |check: &&Check| check.rule == Rule::LISTED;
    let (listed, called): (Vec<_>, Vec<_>) = scenario.checks.iter().partition(is_listing);
    called_functions(out, &called)?;
    listed_functions(out, &listed)?;
    not_tried(out, run, scenario)
}

/// Writes the table of functions that were called.
fn called_functions(out: &mut dyn Write, checks: &[&Check]) -> fmt::Result {
    let mut table = Table::titled("Firmware functions that were called");
    table.words(["Function", "Check"]);
    table.numbers(["At"]);
    table.end_names();
    table.words(["Promised"]);
    table.numbers(["CPUs"]);
    table.words(["Result"]);
    for check in checks {
        let cpus = check.cpus.iter().count();
        table.rows.push(vec![
            check.function.name().into(),
            check.rule.title.into(),
            check.value_text().unwrap_or_default(),
            check.promised_word().into(),
            if cpus == 0 {
                String::new()
            } else {
                cpus.to_string()
            },
            check.result().into(),
        ]);
    }
    write_table(out, table, &TableStyle::SIMPLE)
}

/// Writes the table of functions that are only listed.
fn listed_functions(out: &mut dyn Write, checks: &[&Check]) -> fmt::Result {
    let mut table = Table::titled("Firmware functions that were not called");
    table.words(["Function"]);
    table.end_names();
    table.words(["Promised"]);
    table.numbers(["Listing"]);
    table.words(["Result"]);
    for check in checks {
        let listing = check.answer.filter(|answer| *answer >= 0);
        table.rows.push(vec![
            check.function.name().into(),
            check.promised_word().into(),
            text_or_absent(listing.map(|answer| format!("{answer:#010x}"))),
            check.result().into(),
        ]);
    }
    write_table(out, table, &TableStyle::SIMPLE)
}

/// Writes each reason for skipping checks, with the checks that it applies to.
fn not_tried(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    let mut reasons: Vec<Skip> = Vec::new();
    for check in &scenario.checks {
        let CheckEnd::NotTried(why) = check.end else {
            continue;
        };
        if reasons.contains(&why) {
            continue;
        }
        reasons.push(why);
        let is_same = |other: &&Check| other.end == CheckEnd::NotTried(why);
        let same = scenario.checks.iter().filter(is_same);
        let subjects = list_first_few(same.map(|check| check.subject(&run.cpus)));
        paragraph(out, "* ", 2, &format_args!("Not tried: {subjects}: {why}."))?;
    }
    if reasons.is_empty() {
        Ok(())
    } else {
        out.write_char('\n')
    }
}
