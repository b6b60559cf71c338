//! Grid tables of reStructuredText, ready to be pasted into documentation: not the
//! shorter simple tables, since TF-A's documentation uses these.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::model::{Cpu, Run};
use crate::spec::prose::{fill, paragraph, width};
use crate::spec::ticks::{Clock, Hundredths};

#[derive(Clone, Copy)]
pub(crate) enum Cell {
    /// Words: left-aligned.
    Text(&'static str),
    /// A number: right-aligned, as all that follow.
    Count(u64),
    /// A hexadecimal number, as wide as a `power_state`.
    Hex(u64),
    /// A number with two decimals.
    Hundredths(u64),
    /// No figure. Not a dash: that would begin a list.
    Missing,
}

impl Cell {
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

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(number) => write!(f, "{number}"),
            Self::Hex(number) => write!(f, "{number:#010x}"),
            Self::Hundredths(number) => Hundredths(*number).fmt(f),
            Self::Missing => f.write_str("n/a"),
        }
    }
}

/// A column: its heading and a cell for each row.
pub(crate) type Column = (&'static str, Vec<Cell>);

/// Blanks before the table: it is the content of a directive.
const INDENT: usize = 3;

/// Writes a table under `title`, and an empty line after it. The first columns name
/// the CPU of each row.
pub(crate) fn table(
    out: &mut dyn Write,
    run: &Run,
    title: &dyn fmt::Display,
    cpus: impl Iterator<Item = u16> + Clone,
    columns: impl IntoIterator<Item = Column>,
) -> fmt::Result {
    paragraph(out, ".. table:: ", INDENT, title)?;
    out.write_char('\n')?;
    let of_cpus = |number: fn(Cpu) -> u16| {
        let numbers = cpus.clone().map(|cpu| number(run.cpu(cpu)));
        numbers.map(|it| Cell::Count(it.into())).collect()
    };
    let mut all = vec![
        ("Cluster", of_cpus(|cpu| cpu.cluster)),
        ("Core", of_cpus(|cpu| cpu.core)),
    ];
    all.extend((run.threads() > 1).then(|| ("Thread", of_cpus(|cpu| cpu.thread))));
    all.extend(columns);
    let widest = |(heading, cells): &Column| {
        let cells = cells.iter().map(|cell| width(cell));
        cells.max().unwrap_or(0).max(heading.len())
    };
    let widths: Vec<usize> = all.iter().map(widest).collect();
    rule(out, &widths, '-')?;
    line(out, &widths, all.iter().map(|it| Cell::Text(it.0)))?;
    rule(out, &widths, '=')?;
    for row in 0..cpus.clone().count() {
        line(out, &widths, all.iter().map(|it| it.1[row]))?;
        rule(out, &widths, '-')?;
    }
    out.write_char('\n')
}

fn rule(out: &mut dyn Write, widths: &[usize], stroke: char) -> fmt::Result {
    fill(out, ' ', INDENT)?;
    out.write_char('+')?;
    for width in widths {
        fill(out, stroke, width + 2)?;
        out.write_char('+')?;
    }
    out.write_char('\n')
}

fn line(out: &mut dyn Write, widths: &[usize], cells: impl Iterator<Item = Cell>) -> fmt::Result {
    fill(out, ' ', INDENT)?;
    out.write_char('|')?;
    for (wide, cell) in widths.iter().zip(cells) {
        let rest = wide.saturating_sub(width(&cell));
        let (before, after) = match cell {
            Cell::Text(_) => (0, rest),
            _ => (rest, 0),
        };
        fill(out, ' ', 1 + before)?;
        write!(out, "{cell}")?;
        fill(out, ' ', after + 1)?;
        out.write_char('|')?;
    }
    out.write_char('\n')
}
