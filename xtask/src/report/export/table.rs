//! Tables, for terminals and as two kinds of markup.

use std::io::{self, Write};

use psci_bench::measure::Summary;
use psci_bench::model::Run;
use psci_bench::plan::ScenarioId;
use serde::Serialize;

use super::escape;
use crate::report::analysis::figure::{FigureKey, x_heading, x_text};

/// The side of a column on which its cells stand.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Align {
    Left,
    Right,
}

/// A table: every row has as many cells as there are columns.
#[derive(Default, Serialize)]
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

    /// Adds columns for the keys of points of a scenario, and returns what makes cells of
    /// one: its x where any has one, how and in which variant it was measured, its figure.
    pub(super) fn of_keys<K: Iterator<Item = FigureKey>>(
        &mut self,
        id: ScenarioId,
        mut keys: K,
    ) -> impl Fn(FigureKey) -> Vec<String> + use<K> {
        let is_of_x = |key| matches!(key, FigureKey::Point(point) if point.x.is_some());
        let has_x = keys.any(is_of_x);
        self.numbers(has_x.then(|| x_heading(id)));
        self.words(["On", "Variant", "Figure"]);
        move |key| {
            let mut cells = Vec::new();
            if let FigureKey::Point(point) = key {
                let x = || point.x.map_or("n/a".to_owned(), |x| x_text(id, x));
                cells.extend(has_x.then(x));
                cells.extend([point.how.word(), point.variant.word()].map(str::to_owned));
            }
            cells.push(key.heading().to_owned());
            cells
        }
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

    /// Returns title, widths of columns, and headings and rows as cells of these widths,
    /// with all text by `escape`.
    fn drawn(&self, escape: fn(&str) -> String) -> (String, Vec<usize>, Vec<Vec<String>>) {
        let headings = self.columns.iter().map(|it| escape(&it.0)).collect();
        let rows = self.rows.iter();
        let rows = rows.map(|row| row.iter().map(|cell| escape(cell)).collect());
        let mut lines: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
        let mut widths = vec![0; self.columns.len()];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.chars().count().max(*width);
            }
        }
        for line in &mut lines {
            for ((cell, width), (_, align)) in line.iter_mut().zip(&widths).zip(&self.columns) {
                *cell = match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                };
            }
        }
        (escape(&self.title), widths, lines)
    }

    /// Writes columns two blanks apart, for terminals.
    pub(super) fn plain(&self, out: &mut dyn Write) -> io::Result<()> {
        let (title, widths, mut lines) = self.drawn(escape::line);
        lines.insert(1, widths.iter().map(|width| "-".repeat(*width)).collect());
        writeln!(out, "{title}")?;
        for line in lines {
            writeln!(out, "  {}", line.join("  ").trim_end())?;
        }
        writeln!(out)
    }

    /// Writes Markdown as GitHub reads it.
    pub(super) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let (title, widths, mut lines) = self.drawn(escape::md);
        let rule = |(width, column): (&usize, &(String, Align))| match column.1 {
            Align::Left => "-".repeat(*width.max(&3)),
            Align::Right => format!("{}:", "-".repeat(width.max(&3) - 1)),
        };
        lines.insert(1, widths.iter().zip(&self.columns).map(rule).collect());
        writeln!(out, "**{title}**\n")?;
        for line in lines {
            writeln!(out, "| {} |", line.join(" | "))?;
        }
        writeln!(out)
    }

    /// Writes a grid of reStructuredText.
    pub(super) fn grid(&self, out: &mut dyn Write) -> io::Result<()> {
        let (title, widths, lines) = self.drawn(escape::rst);
        let rule = |stroke: &str| {
            let parts = widths.iter().map(|width| stroke.repeat(width + 2));
            format!("    +{}+", parts.collect::<Vec<_>>().join("+"))
        };
        writeln!(out, ".. table:: {title}\n\n{}", rule("-"))?;
        for (place, line) in lines.iter().enumerate() {
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

/// Returns a summary as cells, by the text of a figure.
pub(super) fn statistics(
    summary: &Summary,
    has_p99: bool,
    text: impl Fn(u64) -> String,
) -> Vec<String> {
    let p99 = || summary.p99.map_or("n/a".to_owned(), &text);
    let mut cells = vec![
        summary.n.to_string(),
        text(summary.min),
        text(summary.median),
    ];
    cells.extend(has_p99.then(p99));
    cells.extend([text(summary.max), text(summary.mad)]);
    cells
}
