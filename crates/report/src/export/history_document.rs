//! Converts a history to blocks, in reading order.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::ScenarioKey;
use suite::output::{ABSENT, Table, text_or_absent};
use suite::plan::Method;

use super::boot_document::boot_history;
use super::compared_text::{percent_text, row_kind, row_name, tolerance_text, value_text};
use super::document::{Block, LabeledLine, ScenarioHeading};
use super::drawing::{HistoryChart, history_chart};
use super::scenario_document::{mark, woken_by};
use super::table::key_entries;
use crate::analysis::compare::{ChangeList, ChangeOutcome, ComparedValue, RowPairing};
use crate::analysis::figure::{HISTOGRAM_BOUND_NOTE, axis_heading};
use crate::analysis::history::{
    FigureHistory, History, HistoryRow, ReleaseChange, ScenarioHistory,
};
use crate::log::LoggedRun;
use crate::log::grouped::grouped;

/// The text shown in an entry without a jump.
const NO_JUMP: &str = "-";

pub(super) fn history<'r>(history: &History, runs: &[LoggedRun]) -> Vec<Block<'r>> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let mut blocks = vec![
        Block::Title(title(history, runs)),
        Block::Definitions(definitions(history)),
    ];
    if runs.iter().any(|logged| logged.run.shares_host_cpus()) {
        blocks.push(Block::Warning(
            "the CPUs of an emulator shared fewer host CPUs in some runs, whose times vary, so no \
             change from or to them is a jump; use --icount"
                .to_owned(),
        ));
    }
    let mut values = history.rows().flat_map(|row| row.points.iter().flatten());
    if values.any(|point| point.value.is_doubtful) {
        blocks.push(Block::Remarks(vec![
            "Figures with a ? are from RT_INSTR lines, which have no checksum.".to_owned(),
        ]));
    }
    blocks.extend(releases(history, runs).map(Block::Table));
    if !history.has_several_boards {
        blocks.extend(overview(history, runs).map(Block::Table));
    }
    blocks.extend(boot_history(runs, &history.releases).map(Block::Table));
    for (number, scenario) in (1..).zip(&history.scenarios) {
        let tables = ScenarioTables {
            history,
            runs,
            first,
            scenario,
        };
        blocks.extend(tables.blocks(&format!("t{number}")));
    }
    blocks
}

/// Returns the document title.
pub(super) fn title(history: &History, runs: &[LoggedRun]) -> String {
    if history.has_several_boards {
        return format!("PSCI latencies of {}", history.releases.join(", "));
    }
    let board = runs.iter().find_map(LoggedRun::board);
    let board_text = board.map_or_else(String::new, |board| format!(" of {board}"));
    let first = history.releases.first();
    let last = history.releases.last();
    let ends = [first, last].into_iter().flatten();
    format!(
        "History of PSCI latencies{board_text}, {}",
        ends.format(" to ")
    )
}

fn definitions(history: &History) -> Vec<LabeledLine> {
    let rows = match history.row_pairing {
        RowPairing::Mpidr => "by MPIDR, or by size rank if CPUs wait for each other",
        RowPairing::Labels => "by cluster and core, or by size rank if CPUs wait for each other",
        RowPairing::Ambiguous => "by size rank, because one run has ambiguous labels",
    };
    let points = history.rows().flat_map(|row| &row.points);
    let gap_count = points.clone().filter(|point| point.is_none()).count();
    let gaps = format!(
        "{gap_count} of {} ({ABSENT})",
        many(points.count(), "figure")
    );
    let runs = history.releases.len().to_string();
    if history.has_several_boards {
        return vec![("Runs", runs), ("Rows", rows.to_owned()), ("Gaps", gaps)];
    }
    let jumps = history.rows().flat_map(HistoryRow::significant_changes);
    let outcomes = jumps.map(|jump| jump.outcome);
    let count = |outcome| outcomes.clone().filter(|other| *other == outcome).count();
    let worse = count(ChangeOutcome::Worse);
    let better = count(ChangeOutcome::Better);
    vec![
        ("Releases", runs),
        ("Rows", rows.to_owned()),
        ("Tolerance", tolerance_text(history.tolerance_ppm)),
        ("Jumps", format!("{worse} worse, {better} better")),
        ("Gaps", gaps),
    ]
}

fn releases(history: &History, runs: &[LoggedRun]) -> Option<Table> {
    let [title, name] = if history.has_several_boards {
        ["Runs", "Run"]
    } else {
        ["Releases", "Release"]
    };
    let mut table = Table::titled(title);
    table.words([name]);
    table.numbers(["Scenarios", "CPUs"]);
    table.optional_words(["Firmware"]);
    table.words(["Input"]);
    for (release, (name, logged)) in history.releases.iter().zip(runs).enumerate() {
        let has_scenario =
            |scenario: &&ScenarioHistory| scenario.rows().any(|row| row.points[release].is_some());
        let scenarios = history.scenarios.iter().filter(has_scenario).count();
        let firmware = if history.has_several_boards {
            logged.firmware_version().unwrap_or_default()
        } else {
            ""
        };
        table.rows.push(vec![
            name.clone(),
            scenarios.to_string(),
            logged.run.cpus.len().to_string(),
            firmware.to_owned(),
            logged.source.input.clone(),
        ]);
    }
    table.finished()
}

/// Returns a table with the number of jumps and the largest jump for each figure.
fn overview(history: &History, runs: &[LoggedRun]) -> Option<Table> {
    let mut table = Table::titled("Jumps");
    table.words(["Scenario", "Figure"]);
    table.end_names();
    table.numbers(["Worse", "Better"]);
    table.words(["Largest", "In"]);
    table.numbers(["Change"]);
    for scenario in &history.scenarios {
        for (metric, figures) in by_metric(scenario) {
            let rows = figures.iter().flat_map(|figure| &figure.rows);
            let jumps: Vec<(&HistoryRow, ReleaseChange)> = rows
                .flat_map(|row| row.significant_changes().map(move |jump| (row, jump)))
                .collect();
            let count = |outcome| {
                let having = jumps.iter().filter(|(_, jump)| jump.outcome == outcome);
                having.count().to_string()
            };
            let name = scenario.key.id.short_tag().to_owned() + &distinction(scenario, runs);
            let mut entries = vec![
                name,
                metric.heading().to_owned(),
                count(ChangeOutcome::Worse),
                count(ChangeOutcome::Better),
            ];
            let largest = jumps
                .iter()
                .max_by(|a, b| a.1.ratio().total_cmp(&b.1.ratio()));
            entries.extend(match largest {
                None => [NO_JUMP; 3].map(str::to_owned),
                Some((row, jump)) => {
                    let release = history.releases[jump.releases[1]].clone();
                    let name = format!("{} {}", row_kind(row), row_name(row, runs));
                    [name, release, percent_text(jump.percent())]
                }
            });
            table.rows.push(entries);
        }
    }
    table.finished()
}

/// Returns the words, preceded by a comma, that distinguish a scenario from others with the same
/// name.
fn distinction(scenario: &ScenarioHistory, runs: &[LoggedRun]) -> String {
    let ScenarioKey { method, helper, .. } = scenario.key;
    let mut in_order = runs.iter();
    let first = in_order.find(|logged| logged.run.scenario(scenario.key).is_some());
    let woken_by = first.map_or_else(String::new, |logged| woken_by(logged, helper, ","));
    match method {
        Method::Tftf => woken_by,
        Method::Warm => format!(", method {}{woken_by}", method.word()),
    }
}

/// Groups a scenario's figures by metric.
fn by_metric(scenario: &ScenarioHistory) -> Vec<(Metric, Vec<&FigureHistory>)> {
    grouped(
        scenario
            .figures
            .iter()
            .map(|figure| (figure.key.metric, figure)),
    )
}

/// A scenario whose tables are being built.
struct ScenarioTables<'h> {
    history: &'h History,
    runs: &'h [LoggedRun],
    /// The first release. All other releases use the same unit.
    first: &'h LoggedRun,
    scenario: &'h ScenarioHistory,
}

impl ScenarioTables<'_> {
    /// Returns the section about the scenario. `id` is unique in the document.
    fn blocks<'r>(&self, id: &str) -> Vec<Block<'r>> {
        let mut blocks = vec![
            Block::Scenario(self.heading(id.to_owned())),
            Block::Paragraph(self.conditions()),
        ];
        if !self.scenario.notes.is_empty() {
            blocks.push(Block::Remarks(self.scenario.notes.clone()));
        }
        for (_, figures) in by_metric(self.scenario) {
            blocks.extend(self.figures(&figures).map(Block::Table));
            if self.history.has_several_boards {
                continue;
            }
            let charts = figures
                .iter()
                .filter(|figure| !figure.key.is_of_step())
                .map(|figure| {
                    history_chart(&HistoryChart {
                        id: format!("{id}-{}", figure.key.word()),
                        history: self.history,
                        runs: self.runs,
                        figure,
                        unit: self.unit(figure),
                    })
                });
            blocks.push(Block::Drawings(charts.collect()));
            blocks.extend(self.jumps(&figures).map(Block::Table));
        }
        blocks
    }

    fn heading(&self, id: String) -> ScenarioHeading {
        let ScenarioKey {
            id: scenario,
            method,
            ..
        } = self.scenario.key;
        ScenarioHeading {
            id,
            text: scenario.name().to_owned() + &distinction(self.scenario, self.runs),
            status: None,
            method: method.word(),
        }
    }

    /// Describes the scenario: its tag, its method, and how its rows are identified.
    fn conditions(&self) -> String {
        let ScenarioKey { id, method, .. } = self.scenario.key;
        let rows = match self.scenario.judged_by {
            ChangeList::Cpu => "rows by CPU",
            ChangeList::Order => "rows by size",
        };
        format!("{id}, method {}; {rows}.", method.word())
    }

    fn unit(&self, figure: &FigureHistory) -> String {
        if figure.key.is_of_step() {
            let unit = figure.key.scale(self.first.clock()).name();
            format!("{unit} per operation")
        } else {
            self.first.unit().to_owned()
        }
    }

    fn text(&self, figure: &FigureHistory, value: &ComparedValue) -> String {
        let clock = self.first.clock();
        let is_of_step = figure.key.is_of_step();
        value_text(clock, is_of_step, value.figure) + mark(value.is_doubtful)
    }

    /// Returns a table without release columns. `suffix` follows the figure name in the title.
    fn titled(&self, figures: &[&FigureHistory], suffix: &str) -> Table {
        let first = figures.first();
        let heading = first.map_or("", |figure| figure.key.heading());
        let unit = first.map_or_else(String::new, |figure| self.unit(figure));
        let is_histogram_bound = figures.iter().any(|figure| figure.key.is_histogram_bound());
        let classes = if is_histogram_bound {
            HISTOGRAM_BOUND_NOTE
        } else {
            ""
        };
        let mut table = Table::titled(format!("{heading}{suffix} ({unit}{classes})"));
        table.numbers([match self.scenario.judged_by {
            ChangeList::Cpu => "CPU",
            ChangeList::Order => "Place",
        }]);
        table.optional_numbers(&[axis_heading(self.scenario.key.id)], ABSENT);
        table.optional_words(["On", "Variant"]);
        table.end_names();
        table
    }

    /// Returns the entries that identify a row.
    fn names(&self, figure: &FigureHistory, row: &HistoryRow) -> Vec<String> {
        let mut entries = key_entries(self.scenario.key.id, figure.key);
        // The figure name is in the title.
        entries.pop();
        entries.insert(0, row_name(row, self.runs));
        entries
    }

    fn figures(&self, figures: &[&FigureHistory]) -> Option<Table> {
        let mut table = self.titled(figures, "");
        table.numbers(self.history.releases.iter().map(String::as_str));
        for figure in figures {
            for row in &figure.rows {
                let mut entries = self.names(figure, row);
                for point in &row.points {
                    let value = point.as_ref().map(|point| &point.value);
                    entries.push(text_or_absent(value.map(|value| self.text(figure, value))));
                }
                table.rows.push(entries);
            }
        }
        table.finished()
    }

    /// Returns the table of jumps, ordered by release.
    fn jumps(&self, figures: &[&FigureHistory]) -> Option<Table> {
        let tolerance = tolerance_text(self.history.tolerance_ppm);
        let mut table = self.titled(figures, &format!(": jumps over {tolerance}"));
        table.words(["From", "To"]);
        table.numbers(["Old", "New", "Change"]);
        table.words(["Outcome"]);
        let rows = figures
            .iter()
            .flat_map(|figure| figure.rows.iter().map(move |row| (*figure, row)));
        let jumps = rows.flat_map(|(figure, row)| {
            row.significant_changes()
                .map(move |jump| (figure, row, jump))
        });
        for (figure, row, jump) in jumps.sorted_by_key(|(.., jump)| jump.releases[1]) {
            let mut entries = self.names(figure, row);
            entries.extend(
                jump.releases
                    .map(|release| self.history.releases[release].clone()),
            );
            entries.extend([jump.old, jump.new].map(|value| self.text(figure, value)));
            entries.push(percent_text(jump.percent()));
            entries.push(jump.outcome.word().to_owned());
            table.rows.push(entries);
        }
        table.finished()
    }
}
