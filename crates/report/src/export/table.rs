//! The styles of tables in text and markup, and the cells that identify a figure.

use std::iter::once;

use suite::measure::Summary;
use suite::output::{ABSENT, Table, TableStyle, text_or_absent};
use suite::plan::ScenarioId;

use super::escape;
use crate::analysis::figure::{FigureKey, x_heading, x_text};

/// The width of a terminal.
const COLUMNS: usize = 80;

/// Columns separated by two spaces, for terminals.
pub(super) const TEXT: TableStyle = TableStyle {
    indent: 2,
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

/// Adds the columns of [`key_cells`].
pub(crate) fn key_columns(table: &mut Table, id: ScenarioId) {
    table.optional_numbers(&[x_heading(id)], ABSENT);
    table.optional_words(["On", "Variant"]);
    table.words(["Figure"]);
}

/// Adds the columns of [`statistics`].
pub(crate) fn statistics_columns(table: &mut Table) {
    table.optional_numbers(&["n", "Min", "Median", "p99", "Max", "MAD"], ABSENT);
}

/// Returns the cells that identify a figure: the value of x, how the figure was measured, the
/// variant, and the figure's name.
pub(crate) fn key_cells(id: ScenarioId, key: FigureKey) -> Vec<String> {
    let step = key.step;
    let (x, how, variant) = match key.is_of_step() {
        true => (step.value, step.cpus.word(), step.variant.word()),
        false => (None, "", ""),
    };
    let words = [how, variant, key.heading()].map(str::to_owned);
    let x = text_or_absent(x.map(|x| x_text(id, x)));
    once(x).chain(words).collect()
}

/// Converts a summary to cells, formatting each value with `figure`.
pub(crate) fn statistics(
    summary: Option<&Summary>,
    text: impl Fn(u64) -> String,
) -> impl Iterator<Item = String> {
    // A skipped step has no figure.
    let filled = summary.filter(|it| it.n > 0);
    let part = |of: fn(&Summary) -> u64| filled.map(of);
    let p99 = filled.and_then(|it| it.p99);
    let (min, median) = (part(|it| it.min), part(|it| it.median));
    let parts = [min, median, p99, part(|it| it.max), part(|it| it.mad)];
    let parts = parts.map(|it| text_or_absent(it.map(&text)));
    once(text_or_absent(summary.map(|it| it.n))).chain(parts)
}
