//! Tables of reStructuredText, ready to be pasted into documentation: grids for main tables,
//! since TF-A's documentation uses these, and shorter simple tables for the others.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::output::prose::{fill, paragraph, width};
use hardware::board::CpuIndex;
use hardware::spec::ticks::{Clock, Hundredths};
use run::model::{Cpu, Label, Run};

#[derive(Clone, Copy, Debug)]
pub(crate) enum GridCell {
    /// Words: left-aligned.
    Text(&'static str),
    /// A CPU's name: left-aligned.
    Cpu(Label),
    /// A number: right-aligned, as all that follow.
    Count(u64),
    /// A hexadecimal number, as wide as a `power_state`.
    Hex(u64),
    /// A number with two decimals.
    Hundredths(u64),
    /// Figures in ticks, separated by slashes.
    Spread(Clock, [u64; 3]),
    /// No figure. Not a dash: that would begin a list.
    Missing,
}

impl GridCell {
    /// Converts a figure in ticks to the unit of tables.
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

/// A column: its heading and a cell for each row.
pub(crate) type Column = (&'static str, Vec<GridCell>);

/// Blanks before the table: it is the content of a directive.
const INDENT: usize = 3;

/// Writes a grid under `title`, and an empty line after it. The first columns name
/// the CPU of each row.
pub(crate) fn grid(
    out: &mut dyn Write,
    run: &Run,
    title: &dyn fmt::Display,
    cpus: impl Iterator<Item = CpuIndex> + Clone,
    columns: impl IntoIterator<Item = Column>,
) -> fmt::Result {
    let of_cpus = |number: fn(Cpu) -> u16| {
        let numbers = cpus.clone().map(|cpu| number(run.cpu(cpu)));
        numbers.map(|it| GridCell::Count(it.into())).collect()
    };
    let mut all = vec![
        ("Cluster", of_cpus(|cpu| cpu.cluster)),
        ("Core", of_cpus(|cpu| cpu.core)),
    ];
    all.extend((run.threads() > 1).then(|| ("Thread", of_cpus(|cpu| cpu.thread))));
    all.extend(columns);
    table(out, title, &all, true)
}

/// Writes a simple table under `title`, and an empty line after it.
pub(crate) fn simple(
    out: &mut dyn Write,
    title: &dyn fmt::Display,
    columns: impl IntoIterator<Item = Column>,
) -> fmt::Result {
    table(out, title, &columns.into_iter().collect::<Vec<_>>(), false)
}

fn table(
    out: &mut dyn Write,
    title: &dyn fmt::Display,
    columns: &[Column],
    is_grid: bool,
) -> fmt::Result {
    paragraph(out, ".. table:: ", INDENT, title)?;
    out.write_char('\n')?;
    let widest = |(heading, cells): &Column| {
        let cells = cells.iter().map(|cell| width(cell));
        cells.max().unwrap_or(0).max(heading.len())
    };
    let widths: Vec<usize> = columns.iter().map(widest).collect();
    let rule = |out: &mut dyn Write, stroke| {
        let edges = match (is_grid, stroke) {
            (false, _) => ["", " ", ""],
            (true, '=') => ["+=", "=+=", "=+"],
            (true, _) => ["+-", "-+-", "-+"],
        };
        let stroke = |out: &mut dyn Write, place: usize| fill(out, stroke, widths[place]);
        line(out, widths.len(), edges, &stroke)
    };
    let cells = |out: &mut dyn Write, cell: &dyn Fn(&Column) -> GridCell| {
        let edges = if is_grid {
            ["| ", " | ", " |"]
        } else {
            ["", " ", ""]
        };
        let cell = |out: &mut dyn Write, place: usize| {
            let cell = cell(&columns[place]);
            let rest = widths[place].saturating_sub(width(&cell));
            let is_left = matches!(cell, GridCell::Text(_) | GridCell::Cpu(_));
            fill(out, ' ', if is_left { 0 } else { rest })?;
            write!(out, "{cell}")?;
            // No line ends with a blank.
            let is_last = !is_grid && place + 1 == columns.len();
            fill(out, ' ', if is_left && !is_last { rest } else { 0 })
        };
        line(out, widths.len(), edges, &cell)
    };
    rule(out, if is_grid { '-' } else { '=' })?;
    cells(out, &|column| GridCell::Text(column.0))?;
    rule(out, '=')?;
    let rows = columns.first().map_or(0, |column| column.1.len());
    for row in 0..rows {
        cells(out, &|column| column.1[row])?;
        if is_grid {
            rule(out, '-')?;
        }
    }
    if !is_grid {
        rule(out, '=')?;
    }
    out.write_char('\n')
}

/// Writes a line with so many columns.
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
