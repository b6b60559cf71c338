//! Tables, for the UART and for reports. A table is a list of columns and rows of text; a
//! [`TableStyle`] says how it is drawn.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use hardware::board::CpuIndex;
use hardware::text::prose::{COLUMNS, fill, paragraph};
use serde::Serialize;

use crate::model::Run;

/// The text shown in an entry without a figure. It is not a dash, which would start a list in
/// reStructuredText.
pub const ABSENT: &str = "n/a";

/// A column with its heading and cells.
#[derive(Serialize)]
struct TableColumn {
    name: String,
    /// True if the entries are aligned to the right.
    is_number: bool,
    /// True if the column identifies the rows, so that it is repeated when the table is continued.
    #[serde(skip)]
    is_name: bool,
    /// For an optional column, the text shown in an entry without a value. The column is dropped if
    /// no entry has a value.
    #[serde(skip)]
    absent: Option<&'static str>,
}

/// A table in which every row has one entry per column.
#[derive(Serialize)]
pub struct Table {
    title: String,
    columns: Vec<TableColumn>,
    /// The entries of each row.
    pub rows: Vec<Vec<String>>,
}

/// How a table is drawn.
pub struct TableStyle {
    /// The number of spaces before each line.
    pub indent: usize,
    /// The text before, between and after the entries of a row.
    pub edges: [&'static str; 3],
    /// The text before, between and after the segments of a rule.
    pub corners: fn(char) -> [&'static str; 3],
    /// The strokes of the rules above the headings, below them, between rows, and below the table.
    pub rules: [Option<char>; 4],
    /// True if the rule below the headings shows the alignment of each column, as in Markdown.
    pub marks_alignment: bool,
    /// The width of a line, if wider tables are continued in another one with the same row names.
    pub width: Option<usize>,
    /// Writes the title and what separates it from the table.
    pub title: fn(&mut dyn Write, &str) -> fmt::Result,
    /// Returns the text of an entry or title without anything that has a meaning in the format.
    pub escape: fn(&str) -> String,
}

/// The number of spaces before the lines of a reStructuredText table, because it is the content of
/// a directive.
const INDENT: usize = 3;

impl TableStyle {
    /// A reStructuredText grid table for the UART, as in TF-A's documentation.
    pub const GRID: Self = Self {
        indent: INDENT,
        edges: ["| ", " | ", " |"],
        corners: |stroke| match stroke {
            '=' => ["+=", "=+=", "=+"],
            _ => ["+-", "-+-", "-+"],
        },
        rules: [Some('-'), Some('='), Some('-'), Some('-')],
        marks_alignment: false,
        width: Some(COLUMNS),
        title: |out, title| {
            paragraph(out, ".. table:: ", INDENT, &title)?;
            out.write_char('\n')
        },
        escape: str::to_owned,
    };

    /// A reStructuredText simple table for the UART, which is shorter.
    pub const SIMPLE: Self = Self {
        edges: ["", " ", ""],
        corners: |_| ["", " ", ""],
        rules: [Some('='), Some('='), None, Some('=')],
        ..Self::GRID
    };
}

impl Table {
    /// Returns a table without columns.
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Returns a table whose first columns are the labels of a CPU; see [`Self::cpu_row`].
    pub fn of_cpus(title: impl Into<String>) -> Self {
        let mut table = Self::titled(title);
        table.numbers(["Cluster", "Core"]);
        table.optional_numbers(&["Thread"], "0");
        table
    }

    /// Adds a row with a CPU's labels and `entries`.
    pub fn cpu_row(
        &mut self,
        run: &Run,
        index: CpuIndex,
        entries: impl IntoIterator<Item = String>,
    ) {
        let cpu = run.cpu(index);
        let labels = [cpu.cluster, cpu.core, cpu.thread].map(|label| u32::from(label).to_string());
        self.rows.push(labels.into_iter().chain(entries).collect());
    }

    /// Adds columns of one kind.
    fn columns(
        &mut self,
        names: impl IntoIterator<Item: Into<String>>,
        is_number: bool,
        absent: Option<&'static str>,
    ) {
        for name in names {
            self.columns.push(TableColumn {
                name: name.into(),
                is_number,
                is_name: false,
                absent,
            });
        }
    }

    /// Adds text columns.
    pub fn words(&mut self, names: impl IntoIterator<Item: Into<String>>) {
        self.columns(names, false, None);
    }

    /// Adds numeric columns.
    pub fn numbers(&mut self, names: impl IntoIterator<Item: Into<String>>) {
        self.columns(names, true, None);
    }

    /// Adds text columns, which are dropped if all their entries are empty.
    pub fn optional_words<const N: usize>(&mut self, names: [&str; N]) {
        self.columns(names, false, Some(""));
    }

    /// Adds numeric columns, which are dropped if all their entries are `absent`.
    pub fn optional_numbers(&mut self, names: &[&str], absent: &'static str) {
        self.columns(names.iter().copied(), true, Some(absent));
    }

    /// Marks the columns added so far as the ones that identify the rows. If the remaining columns
    /// do not fit on the terminal, this table is continued in another one that repeats the row
    /// names.
    pub fn end_names(&mut self) {
        for column in &mut self.columns {
            column.is_name = true;
        }
    }

    /// Returns the table without its empty optional columns, or None if there are no rows.
    pub fn finished(mut self) -> Option<Self> {
        for index in (0..self.columns.len()).rev() {
            let absent = self.columns[index].absent;
            if absent
                .is_some_and(|absent_text| self.rows.iter().all(|row| row[index] == absent_text))
            {
                self.columns.remove(index);
                for row in &mut self.rows {
                    row.remove(index);
                }
            }
        }
        (!self.rows.is_empty()).then_some(self)
    }

    /// Draws the table, followed by an empty line.
    ///
    /// # Errors
    /// Returns an error if output cannot be written.
    pub fn write(&self, out: &mut dyn Write, style: &TableStyle) -> fmt::Result {
        let title = (style.escape)(&self.title);
        let widths = self.widths(style);
        for (index, columns) in self.parts(style, &widths).iter().enumerate() {
            if index == 0 {
                (style.title)(out, &title)?;
            } else {
                (style.title)(out, &format!("{title}, continued"))?;
            }
            let part = Part {
                table: self,
                style,
                columns,
                widths: &widths,
            };
            part.write(out)?;
        }
        Ok(())
    }

    /// Returns the width of each column's widest entry.
    fn widths(&self, style: &TableStyle) -> Vec<usize> {
        let width = |text: &str| (style.escape)(text).chars().count();
        let mut widths: Vec<usize> = Vec::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            let entries = self.rows.iter().map(|row| width(&row[index]));
            let widest = entries.max().unwrap_or(0).max(width(&column.name));
            let least = if style.marks_alignment { 3 } else { 0 };
            widths.push(widest.max(least));
        }
        widths
    }

    /// Returns the columns of each part of the table. A table without row names has only one part.
    fn parts(&self, style: &TableStyle, widths: &[usize]) -> Vec<Vec<usize>> {
        let (names, mut rest): (Vec<usize>, Vec<usize>) =
            (0..widths.len()).partition(|column_index| self.columns[*column_index].is_name);
        let limit = match style.width {
            Some(width) if !names.is_empty() => width,
            _ => return vec![(0..widths.len()).collect()],
        };
        let [first, between, last] = style.edges.map(str::len);
        let line_width = |columns: &[usize]| {
            let entries: usize = names
                .iter()
                .chain(columns)
                .map(|column_index| widths[*column_index] + between)
                .sum();
            style.indent + first + entries - between + last
        };
        let mut parts = Vec::new();
        while !rest.is_empty() {
            // Each part has at least one column, even if it is too wide.
            let fits = |count: &usize| line_width(&rest[..*count]) <= limit;
            let count = (1..=rest.len()).take_while(fits).last().unwrap_or(1);
            parts.push(names.iter().copied().chain(rest.drain(..count)).collect());
        }
        parts
    }
}

/// A part of a table that is drawn as a whole.
struct Part<'t> {
    table: &'t Table,
    style: &'t TableStyle,
    columns: &'t [usize],
    widths: &'t [usize],
}

impl Part<'_> {
    fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let [above, below_headings, between, below] = self.style.rules;
        self.rule(out, above)?;
        self.entries(out, &|column_index| &self.table.columns[column_index].name)?;
        self.rule(out, below_headings)?;
        for (index, row) in self.table.rows.iter().enumerate() {
            if index > 0 {
                self.rule(out, between)?;
            }
            self.entries(out, &|column_index| &row[column_index])?;
        }
        self.rule(out, below)?;
        out.write_char('\n')
    }

    /// Writes a rule, if the style has one here.
    fn rule(&self, out: &mut dyn Write, stroke: Option<char>) -> fmt::Result {
        let Some(stroke) = stroke else { return Ok(()) };
        self.line(out, (self.style.corners)(stroke), &|out, column| {
            let width = self.widths[column];
            let is_marked = self.style.marks_alignment && self.table.columns[column].is_number;
            fill(out, stroke, width - usize::from(is_marked))?;
            out.write_str(if is_marked { ":" } else { "" })
        })
    }

    /// Writes one line of entries; `text` returns the text of a column.
    fn entries<'c>(&self, out: &mut dyn Write, text: &dyn Fn(usize) -> &'c str) -> fmt::Result {
        let last = self.columns.last().copied();
        self.line(out, self.style.edges, &|out, column| {
            let escaped = (self.style.escape)(text(column));
            let padding = self.widths[column].saturating_sub(escaped.chars().count());
            let is_number = self.table.columns[column].is_number;
            fill(out, ' ', if is_number { padding } else { 0 })?;
            out.write_str(&escaped)?;
            // Lines must not end with a space.
            let is_open = self.style.edges[2].is_empty() && last == Some(column);
            fill(out, ' ', if is_number || is_open { 0 } else { padding })
        })
    }

    /// Writes one line; `write_entry` writes the text of a column.
    fn line(
        &self,
        out: &mut dyn Write,
        [first, between, last]: [&str; 3],
        write_entry: &dyn Fn(&mut dyn Write, usize) -> fmt::Result,
    ) -> fmt::Result {
        fill(out, ' ', self.style.indent)?;
        for (index, column) in self.columns.iter().enumerate() {
            out.write_str(if index == 0 { first } else { between })?;
            write_entry(out, *column)?;
        }
        writeln!(out, "{last}")
    }
}

/// Returns the text of an entry.
pub fn text_or_absent(value: Option<impl ToString>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

/// Draws a table without its empty optional columns, unless it has no rows.
pub(crate) fn write_table(out: &mut dyn Write, table: Table, style: &TableStyle) -> fmt::Result {
    match table.finished() {
        Some(table) => table.write(out, style),
        None => Ok(()),
    }
}
