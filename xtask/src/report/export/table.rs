//! Tables, for terminals and as two kinds of markup.

use std::io::{self, Write};

use psci_bench::model::Run;

use super::escape;

/// The side of a column on which its cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table: every row has as many cells as there are columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) title: String,
    pub(super) columns: Vec<(String, Align)>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Returns a table whose rows begin with their CPUs.
    pub(super) fn of_cpus(title: impl Into<String>, run: &Run) -> Self {
        let mut table = Self::titled(title);
        table.numbers(["Cluster", "Core"]);
        table.numbers((run.threads() > 1).then_some("Thread"));
        table
    }

    /// Adds a row to such a table.
    pub(super) fn cpu_row(&mut self, run: &Run, cpu: u16, cells: impl IntoIterator<Item = String>) {
        let cpu = run.cpu(cpu);
        let mut row = vec![cpu.cluster.to_string(), cpu.core.to_string()];
        row.extend((run.threads() > 1).then(|| cpu.thread.to_string()));
        row.extend(cells);
        self.rows.push(row);
    }

    /// Adds columns whose cells are words.
    pub(super) fn words(&mut self, headings: impl IntoIterator<Item: Into<String>>) {
        let headings = headings.into_iter();
        let columns = headings.map(|it| (it.into(), Align::Left));
        self.columns.extend(columns);
    }

    /// Adds columns whose cells are numbers.
    pub(super) fn numbers(&mut self, headings: impl IntoIterator<Item: Into<String>>) {
        let headings = headings.into_iter();
        let columns = headings.map(|it| (it.into(), Align::Right));
        self.columns.extend(columns);
    }

    /// Returns the table with its text by `escape`.
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

    /// Returns headings and rows as cells of equal width.
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

    /// Writes columns two blanks apart, for terminals.
    pub(super) fn plain(&self, out: &mut dyn Write) -> io::Result<()> {
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

    /// Writes Markdown as GitHub reads it.
    pub(super) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
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

    /// Writes a grid of reStructuredText.
    pub(super) fn grid(&self, out: &mut dyn Write) -> io::Result<()> {
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

/// Returns the headings of a summary's columns.
pub(super) fn statistics_headings(has_p99: bool) -> impl Iterator<Item = &'static str> {
    let all = ["n", "Min", "Median", "p99", "Max", "MAD"].into_iter();
    all.filter(move |name| *name != "p99" || has_p99)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draw: fn(&Table, &mut dyn Write) -> io::Result<()>) -> String {
        let mut table = Table::titled("A title (us)");
        table.words(["X"]);
        table.numbers(["Y"]);
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
