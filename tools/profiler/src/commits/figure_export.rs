//! Writes ledgers of figures.

use std::collections::BTreeSet;
use std::io::Write;
use std::iter;

use anyhow::Result;
use hardware::text::plural::many;
use itertools::Itertools as _;
use report::export::{Block, Chart, Drawing, EDGE, LEFT, Scale, Table};
use runner::build::checkout::Commit;

use super::figure_comparison::{CommitFigures, FigureComparison, Selected};
use super::ledger::{self, CommitLedger};
use super::ledger_export::{
    LedgerText, commit_counts, commit_table, jump_heading, jump_lines, share_clause, write_csv_rows,
};
use crate::profile::difference::{InstructionScope, PhaseChange};
use crate::profile::document::{
    NOTES, change_table, function_changes, number, scopes_text, share_text, signed, unit_text,
};
use crate::profile::event::{Event, unit_name};

/// The largest number of commits for which a table has a column for each commit.
const COLUMNS_MAX: usize = 12;

type Ledger = CommitLedger<FigureComparison>;
type Entry = ledger::LedgerEntry<CommitFigures>;
type Jump = ledger::LedgerJump<PhaseChange>;

impl LedgerText for Ledger {
    const NOTES: &'static str = NOTES;

    fn title(&self) -> String {
        format!("PSCI calls in TF-A {}, commit by commit", self.range)
    }

    fn document(&self) -> Vec<Block<'static>> {
        let unit = self.comparison.unit;
        let percent = (self.comparison.tolerance * 1e6).round() / 1e4;
        let jumps = format!("{} over {percent} %", self.main_jumps().count());
        let definitions = vec![
            ("Commits", commit_counts(self, "measured")),
            ("Jumps", jumps),
            ("Unit", unit_text(unit)),
        ];
        let mut all = vec![Block::Title(self.title()), Block::Definitions(definitions)];
        all.extend(commit_table(self, result).map(Block::Table));
        let entries = self.entries.iter();
        let names: BTreeSet<&String> = entries
            .flat_map(|entry| entry.record.figures.keys())
            .collect();
        all.extend(figure_table(self, &names).map(Block::Table));
        if self.entries.len() <= COLUMNS_MAX {
            all.extend(history_table(self, &names).map(Block::Table));
        }
        for jump in &self.jumps {
            all.extend(jump_heading(jump));
            all.extend(change_table(&jump.changes, unit).map(Block::Table));
            all.extend(function_changes(&jump.changes).map(Block::Table));
        }
        let series = names.iter().flat_map(|name| series(self, name));
        let axis = unit.map_or("Instructions", Event::heading);
        let charts: Vec<Chart> = series
            .map(|series| series.chart(self.entries.len(), axis))
            .collect();
        if !charts.is_empty() {
            all.push(Block::DrawingHeading("Charts".to_owned()));
            all.push(Block::Drawings(charts));
        }
        all
    }

    fn write_csv(&self, out: &mut dyn Write) -> Result<()> {
        let rows = |record: &CommitFigures| {
            let figures = record.figures.iter();
            let rows = figures.map(|(name, figure)| {
                let own = figure
                    .own
                    .map_or_else(String::new, |own_cost| own_cost.to_string());
                vec![name.clone(), own, figure.all.to_string(), String::new()]
            });
            rows.collect()
        };
        write_csv_rows(self, &["figure", "own", "all"], rows, out)
    }

    fn conclusion(&self) -> Vec<String> {
        let selected = self.comparison.selected.as_ref();
        let mut lines = jump_lines(self, |changes| match (selected, changes) {
            (Some(selected), [change]) => change_text(change, selected.part),
            _ => many(changes.len(), "figure"),
        });
        match selected {
            Some(selected) => lines.extend(whole(self, selected)),
            None => lines.extend(larger(self)),
        }
        lines.extend(self.lack());
        lines
    }
}

/// Returns a commit's result in the table of commits.
fn result(entry: &Entry, jump: Option<&Jump>) -> String {
    match (jump, &entry.same_as) {
        (Some(jump), _) => format!("jump: {}", many(jump.changes.len(), "figure")),
        (None, Some(same)) => format!("same firmware as {}", same.short()),
        (None, None) => "measured".to_owned(),
    }
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
    is_jump: bool,
}

/// Returns the series for a figure: the CPU's own instructions, and the total across all CPUs if
/// others execute any.
fn series<'l>(ledger: &'l Ledger, name: &str) -> Vec<LedgerSeries<'l>> {
    let figures = ledger
        .entries
        .iter()
        .filter_map(|entry| entry.record.figures.get(name));
    let has_waiting = figures
        .filter_map(|figure| figure.waiting())
        .any(|time| time != 0.0);
    let own = LedgerSeries::new(ledger, name, InstructionScope::Own);
    let all = has_waiting.then(|| LedgerSeries::new(ledger, name, InstructionScope::All));
    iter::once(own).chain(all).collect()
}

impl<'l> LedgerSeries<'l> {
    fn new(ledger: &'l Ledger, name: &str, part: InstructionScope) -> Self {
        let point = |(place, entry): (usize, &'l Entry)| {
            let (commit, figure) = (
                &entry.commit,
                part.select(*entry.record.figures.get(name)?)?,
            );
            let is_jump = |change: &PhaseChange| {
                change.figure_name == name && change.exceeds(&[part], ledger.comparison.tolerance)
            };
            let mut jumps = ledger
                .jumps
                .iter()
                .filter(|jump| jump.commit.id == commit.id);
            Some(LedgerPoint {
                place,
                commit,
                figure,
                is_jump: jumps.any(|jump| jump.changes.iter().any(is_jump)),
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
        let most = self
            .points
            .iter()
            .map(|point| point.figure)
            .fold(0.0, f64::max);
        let (mut drawing, y) = Drawing::of_values(most, axis);
        let x = Scale::linear((-0.5, count as f64 - 0.5), (LEFT, EDGE));
        let tick = |point: &LedgerPoint<'_>| (point.place as f64, point.commit.name().to_owned());
        drawing.bottom(&x, "commit", x.spaced(self.points.iter().map(tick)));
        let point_position =
            |point: &LedgerPoint<'_>| (x.at(point.place as f64), y.at(point.figure));
        for pair in self.points.windows(2) {
            drawing.line("axis", point_position(&pair[0]), point_position(&pair[1]));
        }
        for point in &self.points {
            let (id, title) = (point.commit.name(), &point.commit.title);
            let tooltip = format!("{id} {title}: {}", number(point.figure));
            let class = if point.is_jump { "last-man" } else { "point" };
            drawing.dot(class, point_position(point), !point.is_jump, &tooltip);
        }
        let legend = [("point", "a commit"), ("last-man", "a jump")]
            .map(|(class, name)| (class, name.to_owned()));
        let caption = format!("{} over {}.", self.name, many(self.points.len(), "commit"));
        let id = self.name.replace([':', '/'], "-");
        let chart = drawing.figure(id, [self.name.clone(), caption], legend.into());
        chart.listed(self.name.clone())
    }
}

fn figure_table(ledger: &Ledger, names: &BTreeSet<&String>) -> Option<Table> {
    let mut table = Table::titled(format!("Figures ({})", scopes_text(ledger.comparison.unit)));
    table.words(["Figure"]);
    table.numbers(["Own, first", "Own, last", "All, first", "All, last"]);
    table.numbers(["Waiting", "Jumps"]);
    for name in names {
        let figure_of = |entry: Option<&Entry>| {
            entry
                .and_then(|entry| entry.record.figures.get(*name))
                .copied()
        };
        let ends = [
            figure_of(ledger.entries.first()),
            figure_of(ledger.entries.last()),
        ];
        let mut cells = vec![(*name).clone()];
        for part in InstructionScope::BOTH {
            cells.extend(ends.map(|figure| match figure {
                Some(figure) => part.select(figure).map_or_else(String::new, number),
                None => "not measured".to_owned(),
            }));
        }
        let [first, last] = ends.map(|figure| figure?.waiting());
        let waiting = first.zip(last);
        cells.push(
            waiting.map_or_else(String::new, |(first_figure, last_figure)| {
                signed(last_figure - first_figure)
            }),
        );
        let is_of_it = |jump: &&Jump| {
            jump.changes
                .iter()
                .any(|change| change.figure_name == **name)
        };
        let selected = ledger.comparison.selected.as_ref();
        cells.push(
            match selected.is_none_or(|change| change.figure == **name) {
                true => ledger.main_jumps().filter(is_of_it).count().to_string(),
                false => "not searched".to_owned(),
            },
        );
        table.rows.push(cells);
    }
    table.finished()
}

/// Returns the table of the CPU's own figures at each commit; None if there are only two commits.
fn history_table(ledger: &Ledger, names: &BTreeSet<&String>) -> Option<Table> {
    if ledger.entries.len() < 3 {
        return None;
    }
    let unit = unit_name(ledger.comparison.unit);
    let mut table = Table::titled(format!("A CPU's own {unit} at each commit"));
    table.words(["Figure"]);
    table.numbers(ledger.entries.iter().map(|entry| entry.commit.name()));
    for name in names {
        let own_text = |entry: &Entry| entry.record.figures.get(*name)?.own.map(number);
        let cells = ledger
            .entries
            .iter()
            .map(|entry| own_text(entry).unwrap_or_default());
        let row = iter::once((*name).clone()).chain(cells);
        table.rows.push(row.collect());
    }
    table.finished()
}

fn change_text(change: &PhaseChange, part: InstructionScope) -> String {
    let both = change.both(part).zip(change.share(part));
    both.map_or_else(String::new, |([old_figure, new_figure], share)| {
        format!(
            "{} -> {} ({})",
            number(old_figure),
            number(new_figure),
            share_text(share)
        )
    })
}

/// Returns sentences about how a figure changes over the range, and about the commit that changes
/// it most in that direction.
fn whole(ledger: &Ledger, selected: &Selected) -> Vec<String> {
    let part = selected.part;
    let Some(change) = ledger
        .whole
        .first()
        .filter(|change| change.both(part).is_some())
    else {
        return Vec::new();
    };
    let name = &change.figure_name;
    let unit = unit_name(ledger.comparison.unit);
    let part_name = match part {
        InstructionScope::Own => format!("own {unit}"),
        InstructionScope::All => format!("{unit} of all CPUs"),
    };
    let mut lines = vec![format!(
        "whole range: {name}, {part_name}: {}",
        change_text(change, part)
    )];
    let difference_of = |jump: &Jump| {
        let [old, new] = jump.changes.first()?.both(part)?;
        Some(new - old)
    };
    let jumps = ledger
        .main_jumps()
        .filter_map(|jump| Some((jump, difference_of(jump)?)));
    let falls = change
        .both(part)
        .is_some_and(|[old_figure, new_figure]| new_figure < old_figure);
    let (direction, sign) = match falls {
        true => ("decrease", -1.0),
        false => ("increase", 1.0),
    };
    let most = jumps.max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
    if let Some((jump, by)) = most.filter(|(_, difference)| sign * difference > 0.0) {
        let share = share_clause(jump.share_of_whole);
        let (id, by) = (jump.commit.name(), signed(by));
        lines.push(format!("largest {direction}: {id} ({by}){share}"));
    }
    lines
}

/// Returns a sentence about the figures that are larger at the end of the range.
fn larger(ledger: &Ledger) -> Option<String> {
    let figures = ledger
        .larger()
        .map(|change| change.figure_name.as_str())
        .join(", ");
    (!figures.is_empty()).then(|| format!("larger at the end of the range: {figures}"))
}
