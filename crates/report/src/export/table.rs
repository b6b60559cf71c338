//! The styles of tables in text and markup, and the entries that identify a figure.

use std::iter::once;

use suite::measure::Summary;
use suite::output::{ABSENT, Table, TableStyle, text_or_absent};
use suite::plan::ScenarioId;

use super::escape;
use crate::analysis::figure::{FigureKey, axis_heading, axis_text};

/// The width of a terminal.
const COLUMNS: usize = 80;

/// Columns separated by two spaces, for terminals.
pub(super) const TEXT: TableStyle = TableStyle {
    indent: 0,
    edges: ["", "  ", ""],
    corners: |_| ["", "  ", ""],
    rules: [None, Some('-'), None, None],
    marks_alignment: false,
    width: Some(COLUMNS),
    title: |out, title| writeln!(out, "{title}"),
    escape: escape::line,
};

/// A GitHub Markdown table.
pub(super) const MARKDOWN: TableStyle = TableStyle {
    indent: 0,
    edges: ["| ", " | ", " |"],
    corners: |_| ["| ", " | ", " |"],
    marks_alignment: true,
    width: None,
    title: |out, title| writeln!(out, "**{title}**\n"),
    escape: escape::markup,
    ..TEXT
};

/// A reStructuredText grid table that is not split.
pub(super) const RST: TableStyle = TableStyle {
    indent: 4,
    width: None,
    title: |out, title| writeln!(out, ".. table:: {title}\n"),
    escape: escape::markup,
    ..TableStyle::GRID
};

/// Adds the columns of [`key_entries`].
pub(crate) fn key_columns(table: &mut Table, id: ScenarioId) {
    table.optional_numbers(&[axis_heading(id)], ABSENT);
    table.optional_words(["On", "Variant"]);
    table.words(["Figure"]);
}

/// Adds the columns of [`statistics`].
pub(crate) fn statistics_columns(table: &mut Table) {
    table.optional_numbers(&["n", "Min", "Median", "p99", "Max", "MAD"], ABSENT);
}

/// Returns the entries that identify a figure: the value of x, how the figure was measured, the
/// variant, and the figure's name.
pub(crate) fn key_entries(id: ScenarioId, key: FigureKey) -> Vec<String> {
    let step = key.step;
    let (value, cpus, variant) = if key.is_of_step() {
        (step.value, step.cpus.word(), step.variant.word())
    } else {
        (None, "", "")
    };
    vec![
        text_or_absent(value.map(|value| axis_text(id, value))),
        cpus.to_owned(),
        variant.to_owned(),
        key.heading().to_owned(),
    ]
}

/// Converts a summary to entries, formatting each value with `text`.
pub(crate) fn statistics(
    summary: Option<&Summary>,
    text: impl Fn(u64) -> String,
) -> impl Iterator<Item = String> {
    // A skipped step has no figure.
    let filled = summary.filter(|summary| summary.n > 0);
    let values = [
        filled.map(|summary| summary.min),
        filled.map(|summary| summary.median),
        filled.and_then(|summary| summary.p99),
        filled.map(|summary| summary.max),
        filled.map(|summary| summary.mad),
    ];
    let count = text_or_absent(summary.map(|summary| summary.n));
    once(count).chain(values.map(|value| text_or_absent(value.map(&text))))
}
