//! Grid tables of reStructuredText, ready to be pasted into documentation.
//!
//! Two passes over the cells, as there is nowhere to keep them: the first
//! finds how wide each column is, the second writes. Grid tables rather than
//! the shorter simple ones, since TF-A's documentation uses them.

use core::fmt::{self, Write};

use crate::spec::prose::{fill, paragraph, width};
use crate::spec::ticks::{Hundredths, Unit};

/// What stands in one place of a table.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    /// Words: left-aligned.
    Text(&'static str),
    /// A number: right-aligned, as all that follow.
    Count(u64),
    /// The same in hexadecimal, as wide as a `power_state`.
    Hex(u64),
    /// A number with two decimals.
    Hundredths(u64),
    /// No figure. Not a dash: that would begin a list.
    Missing,
}

impl Cell {
    /// A figure in ticks, in the unit of tables.
    pub(crate) fn ticks(unit: Unit, ticks: Option<u64>) -> Self {
        match ticks {
            None => Self::Missing,
            Some(ticks) if !unit.0.is_known() => Self::Count(ticks),
            Some(ticks) => unit
                .0
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

/// The most columns that a table has.
pub(crate) const COLUMNS_MAX: usize = 12;

/// Blanks before the table: it is the content of a directive.
const INDENT: usize = 3;

/// A table without its title.
pub(crate) struct Grid<'t> {
    /// Number of columns; those after [`COLUMNS_MAX`] are left out.
    pub(crate) columns: usize,
    /// The heading of a column.
    pub(crate) heading: &'t dyn Fn(usize) -> &'static str,
    /// Number of rows.
    pub(crate) rows: usize,
    /// The cell in a row and a column.
    pub(crate) cell: &'t dyn Fn(usize, usize) -> Cell,
}

impl Grid<'_> {
    /// Writes the table under `title`, and an empty line after it.
    pub(crate) fn write(&self, out: &mut dyn Write, title: fmt::Arguments<'_>) -> fmt::Result {
        paragraph(out, ".. table:: ", INDENT, &mut |heading| {
            heading.write_fmt(title)
        })?;
        out.write_char('\n')?;

        let mut widths = [0; COLUMNS_MAX];
        let columns = self.columns.min(COLUMNS_MAX);
        let widths = widths.get_mut(..columns).unwrap_or_default();
        for (column, widest) in widths.iter_mut().enumerate() {
            let cells = (0..self.rows).map(|row| width(&(self.cell)(row, column)));
            *widest = cells.fold((self.heading)(column).len(), usize::max);
        }

        rule(out, widths, '-')?;
        line(out, widths, &|column| Cell::Text((self.heading)(column)))?;
        rule(out, widths, '=')?;
        for row in 0..self.rows {
            line(out, widths, &|column| (self.cell)(row, column))?;
            rule(out, widths, '-')?;
        }
        out.write_char('\n')
    }
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

fn line(out: &mut dyn Write, widths: &[usize], cell: &dyn Fn(usize) -> Cell) -> fmt::Result {
    fill(out, ' ', INDENT)?;
    out.write_char('|')?;
    for (column, wide) in widths.iter().enumerate() {
        let cell = cell(column);
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
        Grid {
            columns: 2,
            heading: &|column| ["X", "Y"][column],
            rows: cells.len(),
            cell: &|row, column| cells[row][column],
        }
        .write(&mut out, format_args!("A title (us)"))
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
