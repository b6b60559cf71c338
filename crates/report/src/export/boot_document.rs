//! Converts boot times to blocks.

use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use suite::model::FigureScale;
use suite::output::{ABSENT, Table, text_or_absent};

use super::compared_text::{percent_text, value_text};
use super::document::Block;
use super::drawing::boot_chart;
use crate::analysis::boot_time::{BootRow, BootStageKind, BootTime, boot_rows, boot_times};
use crate::analysis::compare::percent;
use crate::log::LoggedRun;

const TITLE: &str = "Boot time";

/// Returns the section about a boot's stages, or nothing if the log does not show any. `id` is
/// unique in the document.
pub(super) fn boot<'r>(logged: &LoggedRun, id: String) -> Vec<Block<'r>> {
    let times = boot_times(logged);
    let clock = logged.boot_clock();
    let Some(table) = stage_table(clock, &times) else {
        return Vec::new();
    };
    let mut note =
        "From TF-A's timestamps, which have no checksum. A stage's time includes the wait \
                    for its own output."
            .to_owned();
    if !clock.is_known() {
        note += " The log does not name the counter's frequency: report --counter-hz HZ converts \
                 ticks to time.";
    }
    vec![
        Block::Heading(TITLE.to_owned()),
        Block::Paragraph(note),
        Block::Table(table),
        Block::Drawings(boot_chart(clock, &times, id).into_iter().collect()),
    ]
}

fn stage_table(clock: Clock, times: &[BootTime]) -> Option<Table> {
    let scale = FigureScale::of_durations(clock);
    let total = times
        .iter()
        .find(|time| time.stage.kind == BootStageKind::Total);
    let mut table = Table::titled(format!("Stages ({})", scale.name()));
    table.words(["Stage"]);
    table.numbers(["Start", "Time"]);
    table.optional_numbers(&["Share"], ABSENT);
    for time in times {
        let share = total.filter(|total| total.ticks > 0).map(|total| {
            let percent = 100.0 * time.ticks as f64 / total.ticks as f64;
            format!("{percent:.1} %")
        });
        table.rows.push(vec![
            time.stage.title.to_owned(),
            scale.text(time.start),
            scale.text(time.ticks),
            text_or_absent(share),
        ]);
    }
    table.finished()
}

/// Returns the table of the changes in boot times from `old` to `new`, which are not judged, because
/// each is from a single boot.
pub(super) fn boot_changes(new: &LoggedRun, old: &LoggedRun) -> Option<Table> {
    let runs = [old, new];
    let mut table = titled(&runs, "; one boot each, not judged");
    table.numbers(["Old", "New", "Change"]);
    for row in boot_rows(&runs) {
        let change = match row.values.as_slice() {
            [Some(old), Some(new)] => Some(percent_text(percent(*new, *old))),
            _ => None,
        };
        let mut entries = entries(&runs, &row);
        entries.push(text_or_absent(change));
        table.rows.push(entries);
    }
    table.finished()
}

/// Returns the table of the boot times of several runs, which have these names.
pub(super) fn boot_history(runs: &[LoggedRun], names: &[String]) -> Option<Table> {
    let runs = runs.iter().collect_vec();
    let mut table = titled(&runs, "; one boot each");
    table.numbers(names.iter().map(String::as_str));
    let rows = boot_rows(&runs);
    table
        .rows
        .extend(rows.iter().map(|row| entries(&runs, row)));
    table.finished()
}

/// Returns a table that has only the column of the stages. `suffix` follows the unit in its title.
fn titled(runs: &[&LoggedRun], suffix: &str) -> Table {
    let unit = clock(runs).unit();
    let mut table = Table::titled(format!("{TITLE} ({unit}{suffix})"));
    table.words(["Stage"]);
    table.end_names();
    table
}

/// Returns the clock of the first run that has boot times. All the others have the same unit.
fn clock(runs: &[&LoggedRun]) -> Clock {
    let first = runs.iter().find(|logged| !logged.boot.is_empty());
    first.map_or(Clock { hz: 0 }, |logged| logged.boot_clock())
}

fn entries(runs: &[&LoggedRun], row: &BootRow) -> Vec<String> {
    let clock = clock(runs);
    let mut entries = vec![row.stage.title.to_owned()];
    let values = row.values.iter();
    entries.extend(
        values.map(|value| text_or_absent(value.map(|value| value_text(clock, false, value)))),
    );
    entries
}
