//! A scenario in the order of reading.

use psci_bench::measure::Metric;
use psci_bench::model::{Failure, Kind, Scenario, Skip, Status, WakeSource, heading};
use psci_bench::plan::{Method, ScenarioId};

use super::document::{Block, Remark};
use super::point_tables::point_tables;
use super::table::{Table, statistics, statistics_headings};
use crate::report::analysis::findings::findings;
use crate::report::log::LoggedRun;

/// Returns the blocks of a scenario; `place` is that of run and scenario, from 1.
pub(super) fn scenario<'r>(
    run: &'r LoggedRun,
    scenario: &'r Scenario,
    place: [usize; 2],
) -> Vec<Block<'r>> {
    let mut all = vec![
        Block::Scenario(name(run, scenario), scenario, place),
        Block::Paragraph(format!("{}.", conditions_text(run, scenario))),
    ];
    let mut tables = tables(run, scenario).into_iter();
    all.extend(tables.next().map(Block::Table));
    let remarks = remarks(run, scenario);
    if !remarks.is_empty() {
        all.push(Block::Remarks(remarks));
    }
    all.push(Block::Charts(run, scenario, place));
    all.extend(tables.map(Block::Table));
    all
}

/// Returns the name by which placements of a helper differ.
fn name(run: &LoggedRun, scenario: &Scenario) -> String {
    let helper = scenario.helper.map(|cpu| run.run.label(cpu));
    let helper = helper.map_or_else(String::new, |it| format!(", woken by CPU {it}"));
    format!("{}{helper}", scenario.id.name())
}

/// Returns the conditions under which a scenario was run, and its end.
pub(super) fn conditions_text(run: &LoggedRun, scenario: &Scenario) -> String {
    let (id, method) = (scenario.id, scenario.method.word());
    let mut text = format!("{id}, method {method}, {}", status_word(scenario.status));
    if let Some(reason) = status_reason(run, scenario.status) {
        text += &format!(" ({reason})");
    }
    for (cpus, reason) in run.skipped_rows(scenario) {
        text += &format!("; {cpus} skipped ({reason})");
    }
    let Some(it) = &scenario.conditions else {
        return text;
    };
    if let Some(state) = it.power_state {
        text += &format!("; power_state {state:#010x}");
    }
    if let Some(source) = wake_source_text(id, it.wake_source) {
        text += match it.power_state {
            Some(_) => ", in which timers stop: ",
            None => "; from states in which timers stop: ",
        };
        text += source;
    }
    if matches!(scenario.status, Status::Skipped(_)) {
        return text;
    }
    if !it.pmf && id.is_suite() {
        text += "; the caller's side";
    }
    if id.is_suite() {
        let (asked, attempts) = (it.asked, it.attempts);
        let noun = if id.is_parallel() {
            "rounds"
        } else {
            "attempts"
        };
        text += &format!("; {asked} samples a CPU asked for, {attempts} {noun}");
    }
    if it.sleep > 0 {
        text += &format!("; first wake-up after {}", run.clock().span(it.sleep));
    }
    if let Some(skew) = &it.skew {
        let median = run.clock().span(skew.median);
        text += &format!("; calls within {median} of each other");
    }
    text
}

fn wake_source_text(id: ScenarioId, source: WakeSource) -> Option<&'static str> {
    let is_of_lead = id == ScenarioId::CpuOffSerial;
    match source {
        WakeSource::OwnTimers => None,
        WakeSource::Frame if is_of_lead => Some("the timer frame wakes the lead"),
        WakeSource::Frame => Some("the timer frame and SGIs wake"),
        WakeSource::Helper if is_of_lead => Some("a CPU that stays awake wakes the lead by SGI"),
        WakeSource::Helper => Some("a CPU that stays awake wakes the others by SGI"),
    }
}

/// Returns the word of a status.
pub(super) const fn status_word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Skipped(_) => "skipped",
        Status::Failed(_) => "failed",
        Status::Crashed => "crashed",
        Status::Unknown => "unknown",
    }
}

/// Returns the reason of a status in words, if the log gives one.
pub(super) fn status_reason(run: &LoggedRun, status: Status) -> Option<String> {
    match status {
        Status::Skipped(Skip::NotStated) | Status::Failed(Failure::NotStated) => None,
        Status::Skipped(reason) => Some(reason.to_string()),
        Status::Failed(reason) => Some(reason.sentence(&run.run)),
        _ => None,
    }
}

/// Returns the tables of figures, and of their spread.
fn tables(run: &LoggedRun, scenario: &Scenario) -> Vec<Table> {
    let columns = scenario.columns();
    let mut all = Vec::new();
    if !columns.is_empty() {
        all.push(main_table(run, scenario, &columns));
        all.extend(spread_table(run, scenario, &columns));
    }
    all.extend(point_tables(run, scenario));
    all
}

fn main_table(run: &LoggedRun, scenario: &Scenario, columns: &[Metric]) -> Table {
    let title = format!("{} ({})", table_title(run, scenario), run.unit());
    let mut table = Table::of_cpus(title, &run.run);
    table.numbers(columns.iter().map(|metric| heading(*metric)));
    for row in &scenario.rows {
        let mark = mark(run.is_doubtful(row));
        let none = if row.skipped.is_some() {
            "skipped"
        } else {
            "n/a"
        };
        let cells = columns.iter().map(|metric| {
            let figure = scenario.figure(row, *metric);
            figure.map_or(none.to_owned(), |it| format!("{}{mark}", run.duration(it)))
        });
        table.cpu_row(&run.run, row.cpu, cells);
    }
    table
}

/// Returns the mark behind a figure that is not verified.
pub(super) const fn mark(is_doubtful: bool) -> &'static str {
    if is_doubtful { " ?" } else { "" }
}

fn spread_table(run: &LoggedRun, scenario: &Scenario, columns: &[Metric]) -> Option<Table> {
    let title = format!("{}: spread ({})", table_title(run, scenario), run.unit());
    let mut table = Table::of_cpus(title, &run.run);
    let mut summaries = scenario.rows.iter().flat_map(|row| &row.statistics);
    let has_p99 = summaries.any(|it| it.summary.p99.is_some());
    table.words(["Figure"]);
    table.numbers(statistics_headings(has_p99));
    for metric in columns {
        for row in &scenario.rows {
            if let Some(summary) = row.summary(*metric) {
                let mut cells = vec![heading(*metric).to_owned()];
                cells.extend(statistics(summary, has_p99, |it| run.duration(it)));
                table.cpu_row(&run.run, row.cpu, cells);
            }
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The most findings of one kind that are given one by one.
const OF_A_KIND_MAX: usize = 8;

/// Returns the findings, those of a kind condensed if they are many.
pub(super) fn remarks(run: &LoggedRun, scenario: &Scenario) -> Vec<Remark> {
    let findings = findings(run, scenario);
    let mut all: Vec<Remark> = Vec::new();
    let mut before: Vec<Kind> = Vec::new();
    for finding in &findings {
        let nth = before.iter().filter(|it| **it == finding.kind).count();
        before.push(finding.kind);
        if nth < OF_A_KIND_MAX {
            all.push(finding.sentence.clone().into());
        } else if nth == OF_A_KIND_MAX {
            let rest = findings.iter().filter(|it| it.kind == finding.kind);
            let rest = rest.skip(nth).map(|it| it.sentence.clone());
            let each: Vec<String> = rest.collect();
            let count = each.len();
            all.push(Remark {
                text: format!("And {count} more of this kind: `--format json` has all."),
                basis: String::new(),
                each,
            });
        }
    }
    all
}

/// Returns the words by which tables of a scenario differ.
fn table_title(run: &LoggedRun, scenario: &Scenario) -> String {
    let mut title = scenario.id.name().to_owned();
    if scenario.method != Method::Tftf {
        title += &format!(", method {}", scenario.method.word());
    }
    if !scenario.has_pmf() {
        title += ", caller's side";
    }
    if let Some(helper) = scenario.helper {
        title += &format!(", woken by CPU {}", run.run.label(helper));
    }
    title
}
