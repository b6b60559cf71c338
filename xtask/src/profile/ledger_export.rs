//! Ledgers in each format.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;

use super::checkout::Commit;
use super::document::{NOTES, UNIT, change_table, function_changes, number, signed};
use super::ledger::{Entry, Ledger};
use crate::report::export::{
    Block, Drawing, EDGE, Figure, LEFT, Scale, Table, write_blocks, write_page,
};
use crate::setup::plural::many;

/// A format of ledgers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Aligned tables for a terminal.
    Text,
    /// One page with tables and charts.
    Html,
    /// A line for each figure of each commit.
    Csv,
    /// Everything, for programs.
    Json,
}

/// Writes `ledger`.
pub fn write(format: Format, ledger: &Ledger, out: &mut dyn Write) -> Result<()> {
    match format {
        Format::Text => write_blocks(document(ledger), out),
        Format::Html => write_page(&title(ledger), NOTES, document(ledger), out),
        Format::Csv => write_csv(ledger, out),
        Format::Json => Ok(serde_json::to_writer(out, ledger)?),
    }
}

fn write_csv(ledger: &Ledger, out: &mut dyn Write) -> Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["commit", "title", "figure", "instructions", "failure"])?;
    for entry in &ledger.entries {
        let Commit { id, title } = &entry.commit;
        if let Some(failure) = &entry.failure {
            csv.write_record([id, title, "", "", failure])?;
        }
        for (name, figure) in &entry.figures {
            csv.write_record([id, title, name, &figure.to_string(), ""])?;
        }
    }
    Ok(csv.flush()?)
}

fn title(ledger: &Ledger) -> String {
    format!("PSCI calls of TF-A {}, commit by commit", ledger.range)
}

fn document(ledger: &Ledger) -> Vec<Block<'static>> {
    let failed = ledger.entries.iter().filter(|it| it.failure.is_some());
    let failed = failed.count();
    let measured = ledger.entries.len() - failed;
    let commits = format!("{measured} measured, {failed} skipped");
    let percent = (ledger.tolerance * 1e6).round() / 1e4;
    let steps = format!("{} over {percent} %", ledger.steps.len());
    let unit = UNIT.to_owned();
    let definitions = vec![("Commits", commits), ("Steps", steps), ("Unit", unit)];
    let mut all = vec![Block::Title(title(ledger)), Block::Definitions(definitions)];
    all.extend(commit_table(ledger).map(Block::Table));
    let names = ledger.entries.iter().flat_map(|it| it.figures.keys());
    let names: BTreeSet<&String> = names.collect();
    let series: Vec<Series> = names
        .into_iter()
        .map(|it| Series::new(ledger, it))
        .collect();
    all.extend(figure_table(&series).map(Block::Table));
    for step in &ledger.steps {
        let (id, title) = (step.commit.short(), &step.commit.title);
        all.push(Block::Heading(format!("{id} {title}")));
        all.push(Block::Paragraph(format!("Against {}.", step.since.short())));
        all.extend(change_table(&step.changes, true).map(Block::Table));
        all.extend(function_changes(&step.changes).map(Block::Table));
    }
    let count = ledger.entries.len();
    all.push(Block::Drawings(
        series.iter().map(|it| it.chart(count)).collect(),
    ));
    all
}

fn commit_table(ledger: &Ledger) -> Option<Table> {
    let mut table = Table::titled("Commits");
    table.words(["Commit", "Title", "Result"]);
    for it in &ledger.entries {
        let mut steps = ledger.steps.iter();
        let step = steps.find(|step| step.commit.id == it.commit.id);
        let result = match (&it.failure, step, &it.same_as) {
            (Some(failure), ..) => format!("skipped: {failure}"),
            (_, Some(step), _) => format!("step: {}", many(step.changes.len(), "figure")),
            (.., Some(same)) => format!("same firmware as {}", same.short()),
            _ => "measured".to_owned(),
        };
        let id = it.commit.short().to_owned();
        table.rows.push(vec![id, it.commit.title.clone(), result]);
    }
    table.finished()
}

/// A figure over the commits.
struct Series<'l> {
    name: &'l str,
    points: Vec<Point<'l>>,
}

struct Point<'l> {
    place: usize,
    commit: &'l Commit,
    figure: f64,
    is_step: bool,
}

impl<'l> Series<'l> {
    fn new(ledger: &'l Ledger, name: &'l str) -> Self {
        let point = |(place, entry): (usize, &'l Entry)| {
            let (commit, figure) = (&entry.commit, *entry.figures.get(name)?);
            let mut steps = ledger.steps.iter().filter(|it| it.commit.id == commit.id);
            let is_step = steps.any(|it| it.changes.iter().any(|it| it.figure == name));
            Some(Point {
                place,
                commit,
                figure,
                is_step,
            })
        };
        let points = ledger
            .entries
            .iter()
            .enumerate()
            .filter_map(point)
            .collect();
        Self { name, points }
    }

    /// Returns a chart; `count` is the number of all commits.
    fn chart(&self, count: usize) -> Figure {
        let most = self.points.iter().map(|it| it.figure).fold(0.0, f64::max);
        let (mut drawing, y) = Drawing::of_values(most, "Instructions");
        let x = Scale::linear((-0.5, count as f64 - 0.5), (LEFT, EDGE));
        let tick = |it: &Point<'_>| (it.place as f64, it.commit.short().to_owned());
        drawing.bottom(&x, "commit", x.spaced(self.points.iter().map(tick)));
        let at = |it: &Point<'_>| (x.at(it.place as f64), y.at(it.figure));
        for pair in self.points.windows(2) {
            drawing.line("axis", at(&pair[0]), at(&pair[1]));
        }
        for it in &self.points {
            let (id, title) = (it.commit.short(), &it.commit.title);
            let said = format!("{id} {title}: {}", number(it.figure));
            let class = if it.is_step { "last-man" } else { "point" };
            drawing.dot(class, at(it), !it.is_step, &said);
        }
        let legend = [("point", "a commit"), ("last-man", "a step")];
        let legend = legend.map(|(class, name)| (class, name.to_owned()));
        let said = format!("{} over {}.", self.name, many(self.points.len(), "commit"));
        let id = self.name.replace([':', '/'], "-");
        drawing.figure(id, [self.name.to_owned(), said], legend.into())
    }
}

fn figure_table(series: &[Series<'_>]) -> Option<Table> {
    let mut table = Table::titled("Figures");
    table.words(["Figure"]);
    table.numbers(["First", "Last measured", "Change", "Steps"]);
    for it in series {
        if let (Some(first), Some(last)) = (it.points.first(), it.points.last()) {
            let change = signed(last.figure - first.figure);
            let steps = it.points.iter().filter(|it| it.is_step).count().to_string();
            let [first, last] = [first, last].map(|it| number(it.figure));
            table
                .rows
                .push(vec![it.name.to_owned(), first, last, change, steps]);
        }
    }
    table.finished()
}
