//! Grid tables of reStructuredText, ready to be pasted into documentation: not the
//! shorter simple tables, since TF-A's documentation uses these.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::model::Run;
use crate::spec::prose::{fill, paragraph, width};
use crate::spec::ticks::{Clock, Hundredths};

/// The content of one place of a table.
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

/// Returns the headings of the columns that name a CPU.
pub(crate) fn cpu_headings(run: &Run) -> &'static [&'static str] {
    match run.threads() {
        1 => &["Cluster", "Core"],
        _ => &["Cluster", "Core", "Thread"],
    }
}

/// Adds the cells of these columns.
pub(crate) fn push_cpu(cells: &mut Vec<Cell>, run: &Run, cpu: u16) {
    let cpu = run.cpu(cpu);
    let numbers = [cpu.cluster, cpu.core, cpu.thread];
    for (number, _) in numbers.iter().zip(cpu_headings(run)) {
        cells.push(Cell::Count((*number).into()));
    }
}

/// Blanks before the table: it is the content of a directive.
const INDENT: usize = 3;

/// Writes a table under `title`, and an empty line after it. `cells` are row by row.
pub(crate) fn table(
    out: &mut dyn Write,
    title: &dyn fmt::Display,
    headings: &[&'static str],
    cells: &[Cell],
) -> fmt::Result {
    paragraph(out, ".. table:: ", INDENT, title)?;
    out.write_char('\n')?;
    let mut widths: Vec<usize> = headings.iter().map(|heading| heading.len()).collect();
    for row in cells.chunks(headings.len()) {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell).max(*widest);
        }
    }
    rule(out, &widths, '-')?;
    line(out, &widths, headings.iter().map(|it| Cell::Text(it)))?;
    rule(out, &widths, '=')?;
    for row in cells.chunks(headings.len()) {
        line(out, &widths, row.iter().copied())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn a_table() {
        let cells = [
            [Cell::Text("a"), Cell::Count(7)],
            [Cell::Text("long"), Cell::Missing],
            [Cell::Text("b"), Cell::Hundredths(1_203)],
        ];
        let mut out = String::new();
        table(&mut out, &"A title (us)", &["X", "Y"], cells.as_flattened())
            .expect("a String takes all");
        assert_eq!(
            out,
            "\
.. table:: A title (us)

   +------+-------+
   | X    | Y     |
   +======+=======+
   | a    |     7 |
   +------+-------+
   | long |   n/a |
   +------+-------+
   | b    | 12.03 |
   +------+-------+

"
        );
    }
}
