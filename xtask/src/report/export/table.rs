//! A table, and how it is drawn.

use std::io::{self, Write};

use super::escape;
use crate::report::model::Run;

/// How the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Align {
    Left,
    Right,
}

/// A table: every row has as many cells as there are columns.
#[derive(Clone, Debug, Default)]
pub(in crate::report) struct Table {
    pub(in crate::report) title: String,
    pub(in crate::report) columns: Vec<(String, Align)>,
    pub(in crate::report) rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::report) fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Adds a column whose cells are words.
    pub(in crate::report) fn words(&mut self, heading: impl Into<String>) {
        self.columns.push((heading.into(), Align::Left));
    }

    /// Adds a column whose cells are numbers.
    pub(in crate::report) fn numbers(&mut self, heading: impl Into<String>) {
        self.columns.push((heading.into(), Align::Right));
    }

    /// The same with all of its text by `escape`.
    fn escaped(&self, escape: fn(&str) -> String) -> Self {
        let columns = self.columns.iter();
        let rows = self.rows.iter();
        Self {
            title: escape(&self.title),
            columns: columns.map(|it| (escape(&it.0), it.1)).collect(),
            rows: rows
                .map(|row| row.iter().map(|cell| escape(cell)).collect())
                .collect(),
        }
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.columns.iter().enumerate();
        columns
            .map(|(place, (heading, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(place));
                let widest = cells.map(|cell| cell.chars().count()).max();
                widest.unwrap_or(0).max(heading.chars().count())
            })
            .collect()
    }

    /// Headings and rows as cells of equal width.
    fn lines(&self) -> impl Iterator<Item = Vec<String>> {
        let widths = self.widths();
        let headings: Vec<&str> = self.columns.iter().map(|it| it.0.as_str()).collect();
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(String::as_str).collect());
        let all = std::iter::once(headings).chain(rows);
        all.map(move |cells: Vec<&str>| {
            let columns = cells.iter().zip(&widths).zip(&self.columns);
            columns
                .map(|((cell, width), (_, align))| match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                })
                .collect()
        })
    }

    /// For terminals: columns two blanks apart.
    pub(in crate::report) fn plain(&self, out: &mut dyn Write) -> io::Result<()> {
        let table = self.escaped(escape::line);
        writeln!(out, "{}", table.title)?;
        for (place, line) in table.lines().enumerate() {
            writeln!(out, "  {}", line.join("  ").trim_end())?;
            if place == 0 {
                let rules: Vec<String> =
                    table.widths().into_iter().map(|w| "-".repeat(w)).collect();
                writeln!(out, "  {}", rules.join("  "))?;
            }
        }
        writeln!(out)
    }

    /// In Markdown, as GitHub reads it.
    pub(in crate::report) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let table = self.escaped(escape::md);
        writeln!(out, "**{}**\n", table.title)?;
        for (place, line) in table.lines().enumerate() {
            writeln!(out, "| {} |", line.join(" | "))?;
            if place == 0 {
                let rule = |(width, column): (usize, &(String, Align))| match column.1 {
                    Align::Left => "-".repeat(width.max(3)),
                    Align::Right => format!("{}:", "-".repeat(width.max(3) - 1)),
                };
                let rules = table.widths().into_iter().zip(&table.columns).map(rule);
                writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
            }
        }
        writeln!(out)
    }

    /// In reStructuredText, as a grid.
    pub(in crate::report) fn grid(&self, out: &mut dyn Write) -> io::Result<()> {
        let table = self.escaped(escape::rst);
        writeln!(out, ".. table:: {}\n", table.title)?;
        let rule = |stroke: &str| {
            let parts = table
                .widths()
                .into_iter()
                .map(|width| stroke.repeat(width + 2));
            format!("    +{}+", parts.collect::<Vec<_>>().join("+"))
        };
        writeln!(out, "{}", rule("-"))?;
        for (place, line) in table.lines().enumerate() {
            writeln!(out, "    | {} |", line.join(" | "))?;
            writeln!(out, "{}", rule(if place == 0 { "=" } else { "-" }))?;
        }
        writeln!(out)
    }
}

/// Columns that say which CPU a row is.
pub(super) fn cpu_columns(run: &Run, table: &mut Table) {
    table.numbers("Cluster");
    table.numbers("Core");
    if run.threads() > 1 {
        table.numbers("Thread");
    }
}

pub(super) fn cpu_cells(run: &Run, cpu: usize) -> Vec<String> {
    let cpu = run.cpus.get(cpu).cloned().unwrap_or_default();
    let mut cells = vec![cpu.cluster.to_string(), cpu.core.to_string()];
    if run.threads() > 1 {
        cells.push(cpu.thread.to_string());
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draw: fn(&Table, &mut dyn Write) -> io::Result<()>) -> String {
        let mut table = Table::titled("A title (us)");
        table.words("X");
        table.numbers("Y");
        table.rows = vec![
            vec!["a".into(), "7".into()],
            vec!["long|".into(), "12.03".into()],
        ];
        let mut out = Vec::new();
        draw(&table, &mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn three_ways() {
        assert_eq!(
            drawn(Table::plain),
            "A title (us)\n  X          Y\n  -----  -----\n  a          7\n  long|  12.03\n\n"
        );
        assert_eq!(
            drawn(Table::markdown),
            "**A title (us)**\n\n| X      |     Y |\n| ------ | ----: |\n| a      |     7 |\n\
             | long\\| | 12.03 |\n\n"
        );
        assert_eq!(
            drawn(Table::grid),
            ".. table:: A title (us)\n\n    +--------+-------+\n    | X      |     Y |\n    \
             +========+=======+\n    | a      |     7 |\n    +--------+-------+\n    | long\\| | 12.03 \
             |\n    +--------+-------+\n\n"
        );
    }
}
