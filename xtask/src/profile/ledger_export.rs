//! Ledgers in each format.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;

use super::difference::PhaseChange;
use super::document::{NOTES, change_table, function_changes, number};
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
    for Entry {
        commit,
        failure,
        figures,
        ..
    } in &ledger.entries
    {
        if let Some(failure) = failure {
            csv.write_record([&commit.id, &commit.title, "", "", failure])?;
        }
        for (name, figure) in figures {
            csv.write_record([&commit.id, &commit.title, name, &figure.to_string(), ""])?;
        }
    }
    Ok(csv.flush()?)
}

fn title(ledger: &Ledger) -> String {
    format!("PSCI calls of TF-A {}, commit by commit", ledger.range)
}

fn document(ledger: &Ledger) -> Vec<Block<'static>> {
    let failed = ledger
        .entries
        .iter()
        .filter(|it| it.failure.is_some())
        .count();
    let measured = ledger.entries.len() - failed;
    let tolerance = format!("{} %", 100.0 * ledger.tolerance);
    let mut all = vec![
        Block::Title(title(ledger)),
        Block::Definitions(vec![
            ("Commits", format!("{measured} measured, {failed} skipped")),
            ("Steps", format!("{} over {tolerance}", ledger.steps.len())),
            (
                "Unit",
                "instructions of a mean call, on QEMU's instruction clock".to_owned(),
            ),
        ]),
    ];
    all.extend(commits(ledger).map(Block::Table));
    all.extend(figures(ledger).map(Block::Table));
    for step in &ledger.steps {
        let (id, title) = (step.commit.short(), &step.commit.title);
        all.push(Block::Heading(format!("{id} {title}")));
        all.push(Block::Paragraph(format!("Against {}.", step.since.short())));
        all.extend(change_table(&step.changes).map(Block::Table));
        all.extend(function_changes(&step.changes).map(Block::Table));
    }
    all.push(Block::Drawings(
        names(ledger)
            .into_iter()
            .map(|it| chart(ledger, it))
            .collect(),
    ));
    all
}

fn names(ledger: &Ledger) -> BTreeSet<&str> {
    let names = ledger.entries.iter().flat_map(|it| it.figures.keys());
    names.map(String::as_str).collect()
}

fn commits(ledger: &Ledger) -> Option<Table> {
    let mut table = Table::titled("Commits");
    table.words(["Commit", "Title", "Result"]);
    for it in &ledger.entries {
        let step = ledger
            .steps
            .iter()
            .find(|step| step.commit.id == it.commit.id);
        let result = match (&it.failure, &it.same_as, step) {
            (Some(failure), ..) => format!("skipped: {failure}"),
            (_, Some(same), _) => format!("same firmware as {}", same.get(..12).unwrap_or(same)),
            (.., Some(step)) => format!("step: {}", many(step.changes.len(), "figure")),
            _ => "measured".to_owned(),
        };
        let id = it.commit.short().to_owned();
        table.rows.push(vec![id, it.commit.title.clone(), result]);
    }
    table.finished()
}

/// Returns the values of a figure, by the commits' places.
fn values<'l>(ledger: &'l Ledger, name: &str) -> Vec<(usize, &'l Entry, f64)> {
    let entries = ledger.entries.iter().enumerate();
    let value = |(place, it): (usize, &'l Entry)| Some((place, it, *it.figures.get(name)?));
    entries.filter_map(value).collect()
}

fn figures(ledger: &Ledger) -> Option<Table> {
    let mut table = Table::titled("Figures");
    table.words(["Figure"]);
    table.numbers(["First", "Last", "Least", "Most", "Steps"]);
    for name in names(ledger) {
        let values: Vec<f64> = values(ledger, name).iter().map(|it| it.2).collect();
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            continue;
        };
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let changes = ledger.steps.iter().flat_map(|it| &it.changes);
        let steps = changes
            .filter(|it: &&PhaseChange| it.figure == name)
            .count();
        let cells = [*first, *last, least, most].map(number);
        let mut row = vec![name.to_owned()];
        row.extend(cells);
        row.push(steps.to_string());
        table.rows.push(row);
    }
    table.finished()
}

/// Returns a chart of a figure over the commits.
fn chart(ledger: &Ledger, name: &str) -> Figure {
    let values = values(ledger, name);
    let most = values.iter().map(|it| it.2).fold(0.0, f64::max);
    let (mut drawing, y) = Drawing::of_values(most, "Instructions");
    let x = Scale::linear((-0.5, ledger.entries.len() as f64 - 0.5), (LEFT, EDGE));
    let ticks = values
        .iter()
        .map(|it| (it.0 as f64, it.1.commit.id[..7].to_owned()));
    drawing.bottom(&x, "commit", x.spaced(ticks));
    let place = |it: &(usize, &Entry, f64)| (x.at(it.0 as f64), y.at(it.2));
    for pair in values.windows(2) {
        drawing.line("axis", place(&pair[0]), place(&pair[1]));
    }
    for it in &values {
        let is_step = |step: &&super::ledger::Step| step.commit.id == it.1.commit.id;
        let step = ledger.steps.iter().find(is_step);
        let is_step = step.is_some_and(|step| step.changes.iter().any(|it| it.figure == name));
        let said = format!(
            "{} {}: {}",
            it.1.commit.short(),
            it.1.commit.title,
            number(it.2)
        );
        drawing.dot(
            if is_step { "last-man" } else { "point" },
            place(it),
            !is_step,
            &said,
        );
    }
    let legend = vec![
        ("point", "a commit".to_owned()),
        ("last-man", "a step".to_owned()),
    ];
    let said = format!("{} over {}.", name, many(values.len(), "commit"));
    let id = name.replace([':', '/'], "-");
    drawing.figure(id, [name.to_owned(), said], legend)
}
