//! Writes ledgers in all formats.

use std::collections::BTreeSet;
use std::io::Write;
use std::iter;

use anyhow::Result;
use hardware::text::plural::many;
use itertools::Itertools as _;
use report::export::{Block, Chart, Drawing, EDGE, LEFT, Scale, Table, write_blocks, write_page};
use report::profile::difference::{InstructionScope, PhaseChange};
use report::profile::document::{
    NOTES, change_table, function_changes, number, scopes_text, share_text, signed, unit_text,
};
use report::profile::event::{Event, unit_name};

use super::ledger::{CommitLedger, LedgerEntry, LedgerStep, Selected};
use crate::build::checkout::Commit;

/// The largest number of commits for which a table has a column for each commit.
const COLUMNS_MAX: usize = 12;

/// A ledger format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LedgerFormat {
    /// Aligned tables for a terminal.
    Text,
    /// One page with tables and charts.
    Html,
    /// One line per figure and commit.
    Csv,
    /// Everything, for programs.
    Json,
}

/// Writes `ledger`.
pub fn write(format: LedgerFormat, ledger: &CommitLedger, out: &mut dyn Write) -> Result<()> {
    match format {
        LedgerFormat::Text => write_blocks(document(ledger), out),
        LedgerFormat::Html => write_page(&title(ledger), NOTES, document(ledger), out),
        LedgerFormat::Csv => write_csv(ledger, out),
        LedgerFormat::Json => Ok(serde_json::to_writer(out, ledger)?),
    }
}

fn write_csv(ledger: &CommitLedger, out: &mut dyn Write) -> Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["commit", "title", "figure", "own", "all", "failure"])?;
    for entry in &ledger.entries {
        let Commit { id, title, .. } = &entry.commit;
        if let Some(failure) = &entry.failure {
            csv.write_record([id, title, "", "", "", failure])?;
        }
        for (name, figure) in &entry.figures {
            let own = figure.own.map_or_else(String::new, |own| own.to_string());
            csv.write_record([id, title, name, &own, &figure.all.to_string(), ""])?;
        }
    }
    Ok(csv.flush()?)
}

fn title(ledger: &CommitLedger) -> String {
    format!("PSCI calls in TF-A {}, commit by commit", ledger.range)
}

fn document(ledger: &CommitLedger) -> Vec<Block<'static>> {
    let failed = ledger.entries.iter().filter(|it| it.failure.is_some());
    let failed = failed.count();
    let measured = ledger.entries.len() - failed;
    let commits = format!("{measured} measured, {failed} skipped");
    let percent = (ledger.tolerance * 1e6).round() / 1e4;
    let steps = format!("{} over {percent} %", ledger.main_steps().count());
    let unit = unit_text(ledger.unit);
    let definitions = vec![("Commits", commits), ("Steps", steps), ("Unit", unit)];
    let mut all = vec![Block::Title(title(ledger)), Block::Definitions(definitions)];
    all.extend(commit_table(ledger).map(Block::Table));
    let names = ledger.entries.iter().flat_map(|it| it.figures.keys());
    let names: BTreeSet<&String> = names.collect();
    all.extend(figure_table(ledger, &names).map(Block::Table));
    if ledger.entries.len() <= COLUMNS_MAX {
        all.extend(history_table(ledger, &names).map(Block::Table));
    }
    for step in &ledger.steps {
        let (name, title) = (step.commit.name(), &step.commit.title);
        all.push(Block::Heading(format!("{name} {title}")));
        let of_whole = step.share_of_whole.map_or_else(String::new, of_whole);
        let (since, merged) = (step.since.name(), merged_text(step.merged_by.as_ref()));
        all.push(Block::Paragraph(format!(
            "Against {since}{merged}{of_whole}."
        )));
        all.extend(change_table(&step.changes, ledger.unit).map(Block::Table));
        all.extend(function_changes(&step.changes).map(Block::Table));
    }
    let series = names.iter().flat_map(|name| series(ledger, name));
    let count = ledger.entries.len();
    let axis = ledger.unit.map_or("Instructions", Event::heading);
    let charts: Vec<Chart> = series.map(|it| it.chart(count, axis)).collect();
    if !charts.is_empty() {
        all.push(Block::DrawingHeading("Charts".to_owned()));
        all.push(Block::Drawings(charts));
    }
    all
}

fn commit_table(ledger: &CommitLedger) -> Option<Table> {
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
        let id = it.commit.name().to_owned();
        table.rows.push(vec![id, it.commit.title.clone(), result]);
    }
    table.finished()
}

/// One instruction scope of a figure, for all commits.
struct LedgerSeries<'l> {
    name: String,
    points: Vec<LedgerPoint<'l>>,
}

struct LedgerPoint<'l> {
    place: usize,
    commit: &'l Commit,
    figure: f64,
    is_step: bool,
}

/// Returns the series for a figure: the CPU's own instructions, and the total across all CPUs if
/// others execute any.
fn series<'l>(ledger: &'l CommitLedger, name: &str) -> Vec<LedgerSeries<'l>> {
    let figures = ledger.entries.iter().filter_map(|it| it.figures.get(name));
    let has_waiting = figures.filter_map(|it| it.waiting()).any(|it| it != 0.0);
    let own = LedgerSeries::new(ledger, name, InstructionScope::Own);
    let all = has_waiting.then(|| LedgerSeries::new(ledger, name, InstructionScope::All));
    iter::once(own).chain(all).collect()
}

impl<'l> LedgerSeries<'l> {
    fn new(ledger: &'l CommitLedger, name: &str, part: InstructionScope) -> Self {
        let point = |(place, entry): (usize, &'l LedgerEntry)| {
            let (commit, figure) = (&entry.commit, part.of(*entry.figures.get(name)?)?);
            let is_step =
                |it: &PhaseChange| it.figure == name && it.exceeds(&[part], ledger.tolerance);
            let mut steps = ledger.steps.iter().filter(|it| it.commit.id == commit.id);
            Some(LedgerPoint {
                place,
                commit,
                figure,
                is_step: steps.any(|it| it.changes.iter().any(is_step)),
            })
        };
        let entries = ledger.entries.iter().enumerate();
        let suffix = match part {
            InstructionScope::Own => "",
            InstructionScope::All => ":all",
        };
        Self {
            name: format!("{name}{suffix}"),
            points: entries.filter_map(point).collect(),
        }
    }

    /// Returns a chart. `count` is the total number of commits, and `axis` is the title of the
    /// vertical axis.
    fn chart(&self, count: usize, axis: &str) -> Chart {
        let most = self.points.iter().map(|it| it.figure).fold(0.0, f64::max);
        let (mut drawing, y) = Drawing::of_values(most, axis);
        let x = Scale::linear((-0.5, count as f64 - 0.5), (LEFT, EDGE));
        let tick = |it: &LedgerPoint<'_>| (it.place as f64, it.commit.name().to_owned());
        drawing.bottom(&x, "commit", x.spaced(self.points.iter().map(tick)));
        let at = |it: &LedgerPoint<'_>| (x.at(it.place as f64), y.at(it.figure));
        for pair in self.points.windows(2) {
            drawing.line("axis", at(&pair[0]), at(&pair[1]));
        }
        for it in &self.points {
            let (id, title) = (it.commit.name(), &it.commit.title);
            let said = format!("{id} {title}: {}", number(it.figure));
            let class = if it.is_step { "last-man" } else { "point" };
            drawing.dot(class, at(it), !it.is_step, &said);
        }
        let legend = [("point", "a commit"), ("last-man", "a step")];
        let legend = legend.map(|(class, name)| (class, name.to_owned()));
        let said = format!("{} over {}.", self.name, many(self.points.len(), "commit"));
        let id = self.name.replace([':', '/'], "-");
        let chart = drawing.figure(id, [self.name.clone(), said], legend.into());
        chart.listed(self.name.clone())
    }
}

fn figure_table(ledger: &CommitLedger, names: &BTreeSet<&String>) -> Option<Table> {
    let mut table = Table::titled(format!("Figures ({})", scopes_text(ledger.unit)));
    table.words(["Figure"]);
    table.numbers(["Own, first", "Own, last", "All, first", "All, last"]);
    table.numbers(["Waiting", "Steps"]);
    for name in names {
        let of = |entry: Option<&LedgerEntry>| entry.and_then(|it| it.figures.get(*name)).copied();
        let ends = [of(ledger.entries.first()), of(ledger.entries.last())];
        let mut cells = vec![(*name).clone()];
        for part in InstructionScope::BOTH {
            cells.extend(ends.map(|figure| match figure {
                Some(figure) => part.of(figure).map_or_else(String::new, number),
                None => "not measured".to_owned(),
            }));
        }
        let [first, last] = ends.map(|figure| figure?.waiting());
        let waiting = first.zip(last);
        cells.push(waiting.map_or_else(String::new, |(first, last)| signed(last - first)));
        let is_of_it = |step: &&LedgerStep| step.changes.iter().any(|it| it.figure == **name);
        let selected = ledger.selected.as_ref();
        cells.push(match selected.is_none_or(|it| it.figure == **name) {
            true => ledger.main_steps().filter(is_of_it).count().to_string(),
            false => "not searched".to_owned(),
        });
        table.rows.push(cells);
    }
    table.finished()
}

/// Returns the table of the CPU's own figures at each commit; None if there are only two commits.
fn history_table(ledger: &CommitLedger, names: &BTreeSet<&String>) -> Option<Table> {
    if ledger.entries.len() < 3 {
        return None;
    }
    let unit = unit_name(ledger.unit);
    let mut table = Table::titled(format!("A CPU's own {unit} at each commit"));
    table.words(["Figure"]);
    table.numbers(ledger.entries.iter().map(|entry| entry.commit.name()));
    for name in names {
        let own = |entry: &LedgerEntry| entry.figures.get(*name)?.own.map(number);
        let cells = ledger.entries.iter().map(|it| own(it).unwrap_or_default());
        let row = iter::once((*name).clone()).chain(cells);
        table.rows.push(row.collect());
    }
    table.finished()
}

/// Returns the word that introduces a step in a conclusion.
pub(super) const fn step_kind(merged_by: Option<&Commit>) -> &'static str {
    match merged_by {
        None => "step",
        Some(_) => "  merged",
    }
}

/// Returns a clause that names the merge that brought in a commit.
pub(super) fn merged_text(merged_by: Option<&Commit>) -> String {
    merged_by.map_or_else(String::new, |merge| {
        format!(", on the branch merged by {}", merge.short())
    })
}

/// Returns a clause that states a step's share of the change over the range.
fn of_whole(share: f64) -> String {
    let opposite = match share < 0.0 {
        true => ", in the opposite direction",
        false => "",
    };
    format!(
        ": {:.1} % of the total change{opposite}",
        100.0 * share.abs()
    )
}

/// Returns the lines of the ledger's conclusion.
pub fn conclusion(ledger: &CommitLedger) -> Vec<String> {
    let steps = ledger.steps.iter().map(|step| {
        let (name, title) = (step.commit.name(), &step.commit.title);
        let changed = match (&ledger.selected, &step.changes[..]) {
            (Some(selected), [change]) => change_text(change, selected.part),
            (_, changes) => many(changes.len(), "figure"),
        };
        let of_whole = step.share_of_whole.map_or_else(String::new, of_whole);
        let kind = step_kind(step.merged_by.as_ref());
        format!("{kind}: {name} {title}: {changed}{of_whole}")
    });
    let mut lines: Vec<String> = steps.collect();
    if lines.is_empty() {
        lines.push("no step".to_owned());
    }
    match &ledger.selected {
        Some(selected) => lines.extend(whole(ledger, selected)),
        None => lines.extend(larger(ledger)),
    }
    lines.extend(ledger.lack());
    lines
}

fn change_text(change: &PhaseChange, part: InstructionScope) -> String {
    let both = change.both(part).zip(change.share(part));
    both.map_or_else(String::new, |([old, new], share)| {
        format!("{} -> {} ({})", number(old), number(new), share_text(share))
    })
}

/// Returns sentences about how a figure changes over the range, and about the commit that changes
/// it most in that direction.
fn whole(ledger: &CommitLedger, selected: &Selected) -> Vec<String> {
    let part = selected.part;
    let Some(change) = ledger.whole.first().filter(|it| it.both(part).is_some()) else {
        return Vec::new();
    };
    let name = &change.figure;
    let unit = unit_name(ledger.unit);
    let part_name = match part {
        InstructionScope::Own => format!("own {unit}"),
        InstructionScope::All => format!("{unit} of all CPUs"),
    };
    let mut lines = vec![format!(
        "whole range: {name}, {part_name}: {}",
        change_text(change, part)
    )];
    let by = |step: &LedgerStep| {
        let [old, new] = step.changes.first()?.both(part)?;
        Some(new - old)
    };
    let steps = ledger
        .main_steps()
        .filter_map(|step| Some((step, by(step)?)));
    let falls = change.both(part).is_some_and(|[old, new]| new < old);
    let (direction, sign) = match falls {
        true => ("decrease", -1.0),
        false => ("increase", 1.0),
    };
    let most = steps.max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
    if let Some((step, by)) = most.filter(|it| sign * it.1 > 0.0) {
        let share = step.share_of_whole.map_or_else(String::new, of_whole);
        let (id, by) = (step.commit.name(), signed(by));
        lines.push(format!("largest {direction}: {id} ({by}){share}"));
    }
    lines
}

/// Returns a sentence about the figures that are larger at the end of the range.
fn larger(ledger: &CommitLedger) -> Option<String> {
    let figures = ledger.larger().map(|it| it.figure.as_str()).join(", ");
    (!figures.is_empty()).then(|| format!("larger at the end of the range: {figures}"))
}
