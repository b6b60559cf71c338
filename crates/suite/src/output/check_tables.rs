//! Two tables of checks. One shows the functions that were called and their results, and the other
//! shows the functions that are only listed.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::findings::list;
use crate::model::{Check, CheckEnd, Probe, Run, Scenario, Skip};
use hardware::text::prose::paragraph;

use super::grid::{GridCell, simple};

/// Writes a scenario's checks, and the reasons why some were skipped. Writes nothing if there are
/// no checks.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    if scenario.checks.is_empty() {
        return Ok(());
    }
    let is_listing = |check: &&Check| check.probe == Probe::Listed;
    let (listed, called): (Vec<_>, Vec<_>) = scenario.checks.iter().partition(is_listing);
    called_functions(out, &called)?;
    listed_functions(out, &listed)?;
    not_tried(out, run, scenario)
}

fn called_functions(out: &mut dyn Write, checks: &[&Check]) -> fmt::Result {
    let each = |cell: fn(&Check) -> GridCell| checks.iter().map(|check| cell(check)).collect();
    let names = [
        (
            "Function",
            each(|check| GridCell::Text(check.function.name())),
        ),
        ("Check", each(|check| GridCell::Text(check.probe.title()))),
        ("At", each(at)),
    ];
    let columns = vec![
        ("Promised", each(promised)),
        ("CPUs", each(cpus)),
        ("Result", each(|check| GridCell::Text(check.result()))),
    ];
    simple(
        out,
        &"Firmware functions that were called",
        &names,
        &columns,
    )
}

fn listed_functions(out: &mut dyn Write, checks: &[&Check]) -> fmt::Result {
    let each = |cell: fn(&Check) -> GridCell| checks.iter().map(|check| cell(check)).collect();
    let names = [(
        "Function",
        each(|check| GridCell::Text(check.function.name())),
    )];
    let listing = |check: &Check| match check.answer {
        Some(answer @ 0..) => GridCell::Hex(answer.cast_unsigned().into()),
        _ => GridCell::Missing,
    };
    let columns = vec![
        ("Promised", each(promised)),
        ("Listing", each(listing)),
        ("Result", each(|check| GridCell::Text(check.result()))),
    ];
    simple(
        out,
        &"Firmware functions that were not called",
        &names,
        &columns,
    )
}

fn at(check: &Check) -> GridCell {
    match check.x {
        None => GridCell::Text(""),
        Some(x) if check.probe.is_of_state() => GridCell::Hex(x.into()),
        Some(x) => GridCell::Count(x.into()),
    }
}

fn promised(check: &Check) -> GridCell {
    GridCell::Text(check.promised_word())
}

fn cpus(check: &Check) -> GridCell {
    match check.cpus.iter().count() {
        0 => GridCell::Text(""),
        count => GridCell::Count(count as u64),
    }
}

/// Writes each reason for skipping checks, with the checks that it applies to.
fn not_tried(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    let mut reasons: Vec<Skip> = Vec::new();
    let mut is_first = true;
    for check in &scenario.checks {
        let CheckEnd::NotTried(why) = check.end else {
            continue;
        };
        if reasons.contains(&why) {
            continue;
        }
        reasons.push(why);
        let same = scenario.checks.iter();
        let same = same.filter(|other| other.end == CheckEnd::NotTried(why));
        let names = list(same.map(|check| check.subject(run)));
        is_first = false;
        paragraph(out, "* ", 2, &format_args!("Not tried: {names}: {why}."))?;
    }
    match is_first {
        true => Ok(()),
        false => out.write_char('\n'),
    }
}
