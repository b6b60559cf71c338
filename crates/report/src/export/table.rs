//! Formats tables for terminals and in two markup languages.

use std::io::{self, Write};
use std::iter::once;

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use serde::Serialize;
use suite::measure::Summary;
use suite::model::Run;
use suite::plan::ScenarioId;

use super::escape;
use crate::analysis::figure::{FigureKey, x_heading, x_text};

/// The text shown in a cell without a figure.
pub(super) const ABSENT: &str = "n/a";
/// The width of a terminal, and the indentation of a table.
const COLUMNS: usize = 80;
const INDENT: usize = 2;

#[derive(Serialize)]
struct TableColumn {
    name: String,
    is_number: bool,
    /// True if the column identifies the rows, so that it is repeated when the table is continued.
    #[serde(skip)]
    is_name: bool,
    /// For an optional column, the text shown in a cell without a value. The column is dropped if
    /// no cell has a value.
    #[serde(skip)]
    absent: Option<&'static str>,
}

/// A table in which every row has one cell per column.
#[derive(Serialize)]
pub struct Table {
    title: String,
    columns: Vec<TableColumn>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table without columns.
    pub fn titled(title: impl Into<String>) -> Self {
        let (title, columns, rows) = (title.into(), Vec::new(), Vec::new());
        Self {
            title,
            columns,
            rows,
        }
    }

    pub(crate) fn of_cpus(title: impl Into<String>) -> Self {
        let mut table = Self::titled(title);
        table.numbers(["Cluster", "Core"]);
        table.optional_numbers(&["Thread"], "0");
        table
    }

    pub(crate) fn cpu_row(
        &mut self,
        run: &Run,
        cpu: CpuIndex,
        cells: impl IntoIterator<Item = String>,
    ) {
        let cpu = run.cpu(cpu);
        let place = [cpu.cluster, cpu.core, cpu.thread].map(|it| it.to_string());
        self.rows.push(place.into_iter().chain(cells).collect());
    }

    fn columns(
        &mut self,
        names: impl IntoIterator<Item: Into<String>>,
        is_number: bool,
        absent: Option<&'static str>,
    ) {
        let column = |name| TableColumn {
            name,
            is_number,
            is_name: false,
            absent,
        };
        let names = names.into_iter().map(Into::into);
        self.columns.extend(names.map(column));
    }

    /// Adds text columns.
    pub fn words(&mut self, names: impl IntoIterator<Item: Into<String>>) {
        self.columns(names, false, None);
    }

    /// Adds numeric columns.
    pub fn numbers(&mut self, names: impl IntoIterator<Item: Into<String>>) {
        self.columns(names, true, None);
    }

    /// Adds text columns, which are dropped if all their cells are empty.
    pub(crate) fn optional_words<const N: usize>(&mut self, names: [&str; N]) {
        self.columns(names, false, Some(""));
    }

    /// Adds numeric columns, which are dropped if all their cells are `absent`.
    pub(crate) fn optional_numbers(&mut self, names: &[&str], absent: &'static str) {
        self.columns(names.iter().copied(), true, Some(absent));
    }

    /// Marks the columns added so far as the ones that identify the rows. If the remaining columns
    /// do not fit on the terminal, this table is continued in another one that repeats the row
    /// names.
    pub(crate) fn end_names(&mut self) {
        for column in &mut self.columns {
            column.is_name = true;
        }
    }

    pub(crate) fn keys(&mut self, id: ScenarioId) {
        self.optional_numbers(&[x_heading(id)], ABSENT);
        self.optional_words(["On", "Variant"]);
        self.words(["Figure"]);
    }

    pub(crate) fn statistics(&mut self) {
        self.optional_numbers(&["n", "Min", "Median", "p99", "Max", "MAD"], ABSENT);
    }

    /// Returns the table without its empty optional columns, or None if there are no rows.
    pub fn finished(mut self) -> Option<Self> {
        for at in (0..self.columns.len()).rev() {
            let absent = self.columns[at].absent;
            if absent.is_some_and(|absent| self.rows.iter().all(|row| row[at] == absent)) {
                self.columns.remove(at);
                for row in &mut self.rows {
                    row.remove(at);
                }
            }
        }
        (!self.rows.is_empty()).then_some(self)
    }

    /// Returns the title, the column widths, and the headings and rows padded to these widths. All
    /// text is passed through `escape`.
    fn drawn(&self, escape: fn(&str) -> String) -> (String, Vec<usize>, Vec<Vec<String>>) {
        let headings = self.columns.iter().map(|it| escape(&it.name)).collect();
        let rows = self.rows.iter();
        let rows = rows.map(|row| row.iter().map(|it| escape(it)).collect());
        let mut lines: Vec<Vec<String>> = once(headings).chain(rows).collect();
        let mut widths = vec![0; self.columns.len()];
        for (width, cell) in lines.iter().flat_map(|line| (0..).zip(line)) {
            widths[width] = cell.chars().count().max(widths[width]);
        }
        for line in &mut lines {
            for ((cell, width), column) in line.iter_mut().zip(&widths).zip(&self.columns) {
                *cell = match column.is_number {
                    false => format!("{cell:<width$}"),
                    true => format!("{cell:>width$}"),
                };
            }
        }
        (escape(&self.title), widths, lines)
    }

    /// Writes columns separated by two spaces, for terminals.
    pub(crate) fn plain(&self, out: &mut dyn Write) -> io::Result<()> {
        let (title, widths, mut lines) = self.drawn(escape::line);
        lines.insert(1, widths.iter().map(|width| "-".repeat(*width)).collect());
        let mut continued = "";
        for columns in self.parts(&widths) {
            writeln!(out, "{title}{continued}")?;
            for line in &lines {
                let cells = columns.iter().map(|column| line[*column].as_str());
                let cells: Vec<&str> = cells.collect();
                writeln!(out, "{:INDENT$}{}", "", cells.join("  ").trim_end())?;
            }
            writeln!(out)?;
            continued = ", continued";
        }
        Ok(())
    }

    /// Returns the columns of each part of the table. A table without row names has only one part.
    fn parts(&self, widths: &[usize]) -> Vec<Vec<usize>> {
        let (names, mut rest): (Vec<usize>, Vec<usize>) =
            (0..widths.len()).partition(|column| self.columns[*column].is_name);
        if names.is_empty() {
            return vec![rest];
        }
        let width = |columns: &[usize]| -> usize {
            let columns = names.iter().chain(columns);
            columns.map(|column| widths[*column] + INDENT).sum()
        };
        let mut parts = Vec::new();
        while !rest.is_empty() {
            // Each part has at least one column, even if it is too wide.
            let fitting = (1..=rest.len()).take_while(|count| width(&rest[..*count]) <= COLUMNS);
            let count = fitting.last().unwrap_or(1);
            let own = rest.drain(..count);
            parts.push(names.iter().copied().chain(own).collect());
        }
        parts
    }

    /// Writes a GitHub Markdown table.
    pub(crate) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let (title, widths, mut lines) = self.drawn(escape::markup);
        let rule = |(width, column): (&usize, &TableColumn)| match column.is_number {
            false => "-".repeat(*width.max(&3)),
            true => format!("{}:", "-".repeat(width.max(&3) - 1)),
        };
        lines.insert(1, widths.iter().zip(&self.columns).map(rule).collect());
        writeln!(out, "**{title}**\n")?;
        for line in lines {
            writeln!(out, "| {} |", line.join(" | "))?;
        }
        writeln!(out)
    }

    pub(crate) fn grid(&self, out: &mut dyn Write) -> io::Result<()> {
        let (title, widths, lines) = self.drawn(escape::markup);
        let rule = |stroke: &str| {
            let parts = widths.iter().map(|width| stroke.repeat(width + 2));
            format!("    +{}+", parts.into_iter().join("+"))
        };
        writeln!(out, ".. table:: {title}\n\n{}", rule("-"))?;
        for (place, line) in lines.iter().enumerate() {
            writeln!(out, "    | {} |", line.join(" | "))?;
            writeln!(out, "{}", rule(if place == 0 { "=" } else { "-" }))?;
        }
        writeln!(out)
    }
}

pub(crate) fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |it| it.to_string())
}

/// Returns the cells that identify a figure: the value of x, how the figure was measured, the
/// variant, and the figure's name.
pub(crate) fn key_cells(id: ScenarioId, key: FigureKey) -> Vec<String> {
    let step = key.step;
    let (x, how, variant) = match key.is_of_step() {
        true => (step.x, step.how.word(), step.variant.word()),
        false => (None, "", ""),
    };
    let words = [how, variant, key.heading()].map(str::to_owned);
    let x = cell(x.map(|x| x_text(id, x)));
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
    let parts = parts.map(|it| cell(it.map(&text)));
    once(cell(summary.map(|it| it.n))).chain(parts)
}
