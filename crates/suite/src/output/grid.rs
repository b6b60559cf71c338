//! reStructuredText tables, ready to be pasted into documentation. The main tables are grid tables,
//! as in TF-A's documentation; the others are simple tables, which are shorter.
//!
//! A table that is too wide for a terminal continues in another table with the same row names.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::model::{Cpu, Label, Run};
use hardware::board::CpuIndex;
use hardware::spec::ticks::{Clock, Hundredths};
use hardware::text::prose::{COLUMNS, fill, paragraph, width};

#[derive(Clone, Copy, Debug)]
pub(crate) enum GridCell {
    /// Text: left-aligned.
    Text(&'static str),
    /// A CPU's name: left-aligned.
    Cpu(Label),
    /// A number: right-aligned, like all variants below.
    Count(u64),
    /// A hexadecimal number with as many digits as a `power_state`.
    Hex(u64),
    /// A number with two decimal places.
    Hundredths(u64),
    /// Values in ticks, separated by slashes.
    Spread(Clock, [u64; 3]),
    /// No value. Missing values are not printed as dashes, because a dash would start a list.
    Missing,
}

impl GridCell {
    /// Converts a value in ticks to the unit used in tables.
    pub(crate) fn ticks(clock: Clock, ticks: Option<u64>) -> Self {
        match ticks {
            None => Self::Missing,
            Some(ticks) if !clock.is_known() => Self::Count(ticks),
            Some(ticks) => clock
                .centi_us(ticks)
                .map_or(Self::Missing, Self::Hundredths),
        }
    }
}

impl fmt::Display for GridCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Cpu(label) => label.fmt(f),
            Self::Count(number) => write!(f, "{number}"),
            Self::Hex(number) => write!(f, "{number:#010x}"),
            Self::Hundredths(number) => Hundredths(*number).fmt(f),
            Self::Spread(clock, figures) => {
                let [least, middle, most] = figures.map(|it| Self::ticks(*clock, Some(it)));
                write!(f, "{least}/{middle}/{most}")
            }
            Self::Missing => f.write_str("n/a"),
        }
    }
}

/// A column, with its heading and a cell for each row.
pub(crate) type Column = (&'static str, Vec<GridCell>);

/// The number of spaces before each table line. The table is indented because it is the content of
/// a directive.
const INDENT: usize = 3;

/// Writes a grid under `title`, followed by an empty line. The first columns identify each row's
/// CPU.
pub(crate) fn grid(
    out: &mut dyn Write,
    run: &Run,
    title: &dyn fmt::Display,
    cpus: &[CpuIndex],
    columns: &[Column],
) -> fmt::Result {
    let of_cpus = |number: fn(Cpu) -> u16| {
        let numbers = cpus.iter().map(|cpu| number(run.cpu(*cpu)));
        numbers.map(|it| GridCell::Count(it.into())).collect()
    };
    let mut names = vec![
        ("Cluster", of_cpus(|cpu| cpu.cluster)),
        ("Core", of_cpus(|cpu| cpu.core)),
    ];
    names.extend((run.threads() > 1).then(|| ("Thread", of_cpus(|cpu| cpu.thread))));
    table(out, Style::Grid, title, &names, columns)
}

/// Writes a simple table under `title`, followed by an empty line. The columns in `names` identify
/// the rows.
pub(crate) fn simple(
    out: &mut dyn Write,
    title: &dyn fmt::Display,
    names: &[Column],
    columns: &[Column],
) -> fmt::Result {
    table(out, Style::Simple, title, names, columns)
}

/// The style of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A frame around each cell.
    Grid,
    /// Rules above and below the headings, and after the last row.
    Simple,
}

impl Style {
    /// Returns the text before, between and after the cells in a row.
    fn edges(self) -> [&'static str; 3] {
        match self {
            Self::Grid => ["| ", " | ", " |"],
            Self::Simple => ["", " ", ""],
        }
    }

    /// Returns the text before, between and after the segments of a rule.
    fn corners(self, stroke: char) -> [&'static str; 3] {
        match (self, stroke) {
            (Self::Simple, _) => ["", " ", ""],
            (Self::Grid, '=') => ["+=", "=+=", "=+"],
            (Self::Grid, _) => ["+-", "-+-", "-+"],
        }
    }

    /// Returns the width of a table with these column widths.
    fn width(self, widths: impl Iterator<Item = usize>) -> usize {
        let [first, between, last] = self.edges().map(str::len);
        let cells = widths.map(|width| width + between).sum::<usize>();
        INDENT + first + cells - between + last
    }
}

/// Returns the width of the widest cell.
fn widest((heading, cells): &Column) -> usize {
    let cells = cells.iter().map(|cell| width(cell));
    cells.max().unwrap_or(0).max(heading.len())
}

/// Writes a table, split into parts that fit on a terminal. Every part starts with the columns in
/// `names`.
fn table(
    out: &mut dyn Write,
    style: Style,
    title: &dyn fmt::Display,
    names: &[Column],
    columns: &[Column],
) -> fmt::Result {
    let with_width = |column| (column, widest(column));
    let names: Vec<(&Column, usize)> = names.iter().map(with_width).collect();
    let columns: Vec<(&Column, usize)> = columns.iter().map(with_width).collect();
    let mut rest = &columns[..];
    while !rest.is_empty() {
        let fits = |count: usize| {
            let columns = names.iter().chain(&rest[..count]);
            style.width(columns.map(|(_, width)| *width)) <= COLUMNS
        };
        // At least one column is written, even if it is too wide.
        let mut count = 1;
        while count < rest.len() && fits(count + 1) {
            count += 1;
        }
        let is_first = rest.len() == columns.len();
        let continued = if is_first { "" } else { ", continued" };
        let title = format_args!("{title}{continued}");
        paragraph(out, ".. table:: ", INDENT, &title)?;
        out.write_char('\n')?;
        part(out, style, &[&names, &rest[..count]].concat())?;
        rest = &rest[count..];
    }
    Ok(())
}

/// Writes one table with these columns and widths, followed by an empty line.
fn part(out: &mut dyn Write, style: Style, columns: &[(&Column, usize)]) -> fmt::Result {
    let rule = |out: &mut dyn Write, stroke| {
        let stroke_of = |out: &mut dyn Write, place: usize| fill(out, stroke, columns[place].1);
        line(out, columns.len(), style.corners(stroke), &stroke_of)
    };
    let cells = |out: &mut dyn Write, cell: &dyn Fn(&Column) -> GridCell| {
        let cell = |out: &mut dyn Write, place: usize| {
            let (column, widest) = columns[place];
            let cell = cell(column);
            let rest = widest.saturating_sub(width(&cell));
            let is_left = matches!(cell, GridCell::Text(_) | GridCell::Cpu(_));
            fill(out, ' ', if is_left { 0 } else { rest })?;
            write!(out, "{cell}")?;
            // Lines must not end with a space.
            let is_last = style == Style::Simple && place + 1 == columns.len();
            fill(out, ' ', if is_left && !is_last { rest } else { 0 })
        };
        line(out, columns.len(), style.edges(), &cell)
    };
    rule(out, if style == Style::Grid { '-' } else { '=' })?;
    cells(out, &|column| GridCell::Text(column.0))?;
    rule(out, '=')?;
    let rows = columns.first().map_or(0, |(column, _)| column.1.len());
    for row in 0..rows {
        cells(out, &|column| column.1[row])?;
        if style == Style::Grid {
            rule(out, '-')?;
        }
    }
    if style == Style::Simple {
        rule(out, '=')?;
    }
    out.write_char('\n')
}

/// Writes one line with these columns.
fn line(
    out: &mut dyn Write,
    columns: usize,
    [first, between, last]: [&str; 3],
    cell: &dyn Fn(&mut dyn Write, usize) -> fmt::Result,
) -> fmt::Result {
    fill(out, ' ', INDENT)?;
    for place in 0..columns {
        out.write_str(if place == 0 { first } else { between })?;
        cell(out, place)?;
    }
    writeln!(out, "{last}")
}
