//! Converts a scenario to blocks, in reading order.

use hardware::board::CpuIndex;
use hardware::text::plural::many;
use suite::measure::Metric;
use suite::model::{Failure, Finding, Scenario, Skip, Status, WakeSource};
use suite::output::{ABSENT, Table};
use suite::plan::{Method, ScenarioId};

use super::check_tables::check_tables;
use super::document::{Block, Charts, ScenarioHeading};
use super::step_tables::step_tables;
use super::table::{statistics, statistics_columns};
use crate::analysis::findings::findings;
use crate::log::{LoggedRun, reason_word};

/// Returns a scenario's heading, which includes the helper if placements differ.
pub(super) fn heading(logged: &LoggedRun, scenario: &Scenario, id: String) -> ScenarioHeading {
    ScenarioHeading {
        id,
        text: scenario.id.name().to_owned() + &woken_by(logged, scenario.helper, ","),
        status: Some(reason_word(&scenario.status)),
        method: scenario.method.word(),
    }
}

/// Returns a phrase about the helper, starting with `comma`, or an empty string if there is none.
pub(super) fn woken_by(logged: &LoggedRun, helper: Option<CpuIndex>, comma: &str) -> String {
    let text = |cpu| format!("{comma} woken by CPU {}", logged.run.label(cpu));
    helper.map_or_else(String::new, text)
}

pub(super) fn scenario<'r>(
    logged: &'r LoggedRun,
    scenario: &'r Scenario,
    heading: ScenarioHeading,
) -> Vec<Block<'r>> {
    let id = heading.id.clone();
    let mut blocks = vec![
        Block::Scenario(heading),
        Block::Paragraph(format!("{}.", conditions_text(logged, scenario))),
    ];
    let columns = scenario.columns();
    let mut tables = main_table(logged, scenario, &columns)
        .into_iter()
        .chain(spread_table(logged, scenario, &columns))
        .chain(step_tables(logged, scenario))
        .chain(check_tables(logged, scenario));
    blocks.extend(tables.next().map(Block::Table));
    let remarks = remarks(logged, scenario);
    if !remarks.is_empty() {
        blocks.push(Block::Remarks(remarks));
    }
    blocks.push(Block::Charts(Charts {
        id,
        logged,
        scenario,
    }));
    blocks.extend(tables.map(Block::Table));
    blocks
}

/// Returns the conditions under which a scenario ran, and how it ended.
pub(super) fn conditions_text(logged: &LoggedRun, scenario: &Scenario) -> String {
    let id = scenario.id;
    let method = scenario.method.word();
    let status = reason_word(&scenario.status);
    let because = status_reason(logged, scenario.status)
        .map_or_else(String::new, |reason| format!(" ({reason})"));
    let mut clauses = vec![format!("{id}, method {method}, {status}{because}")];
    let skipped = logged.skipped_rows(scenario).into_iter();
    clauses.extend(skipped.map(|(cpus, reason)| format!("{cpus} skipped ({reason})")));
    let Some(conditions) = &scenario.conditions else {
        return clauses.join("; ");
    };
    let state = conditions
        .power_state
        .map(|state| format!("power_state {state:#010x}"));
    clauses.extend(
        match (state, wake_source_text(id, conditions.wake_source)) {
            (Some(state), Some(source)) => Some(format!("{state}, in which timers stop: {source}")),
            (None, Some(source)) => Some(format!("from states in which timers stop: {source}")),
            (state, None) => state,
        },
    );
    if matches!(scenario.status, Status::Skipped(_)) {
        return clauses.join("; ");
    }
    if id.is_suite() {
        if !conditions.pmf {
            clauses.push("the caller's side".to_owned());
        }
        let noun = if id.is_parallel() { "round" } else { "attempt" };
        clauses.push(format!(
            "{} per CPU requested, {}",
            many(conditions.requested_samples as usize, "sample"),
            many(conditions.attempts as usize, noun)
        ));
    }
    if conditions.sleep > 0 {
        let sleep = logged.clock().span(conditions.sleep);
        clauses.push(format!("first wake-up after {sleep}"));
    }
    if let Some(skew) = &conditions.skew {
        let median = logged.clock().span(skew.median);
        clauses.push(format!("calls within {median} of each other"));
    }
    clauses.join("; ")
}

fn wake_source_text(id: ScenarioId, source: WakeSource) -> Option<&'static str> {
    let is_of_lead = id.only_lead_suspends();
    match source {
        WakeSource::OwnTimers => None,
        WakeSource::Frame if is_of_lead => Some("the timer frame wakes the lead"),
        WakeSource::Frame => Some("the timer frame and SGIs wake the CPUs"),
        WakeSource::Helper if is_of_lead => Some("a CPU that stays awake wakes the lead by SGI"),
        WakeSource::Helper => Some("a CPU that stays awake wakes the others by SGI"),
    }
}

/// Returns the reason for a status, if the log contains one.
pub(super) fn status_reason(logged: &LoggedRun, status: Status) -> Option<String> {
    match status {
        Status::Skipped(Skip::NotStated) | Status::Failed(Failure::NotStated) => None,
        Status::Skipped(reason) => Some(reason.to_string()),
        Status::Failed(reason) => Some(reason.sentence(&logged.run.cpus, logged.run.clock())),
        Status::Passed | Status::Crashed | Status::Unknown => None,
    }
}

fn main_table(logged: &LoggedRun, scenario: &Scenario, columns: &[Metric]) -> Option<Table> {
    let title = format!("{} ({})", table_title(logged, scenario), logged.unit());
    let mut table = Table::of_cpus(title);
    table.numbers(columns.iter().map(|metric| metric.heading()));
    if columns.is_empty() {
        return None;
    }
    for cell in scenario.suite_cells() {
        let mark = mark(logged.is_doubtful(cell));
        let none = cell.skipped.map_or(ABSENT, |_| "skipped");
        let entries = columns.iter().map(|metric| match cell.figure(*metric) {
            Some(ticks) => logged.duration(ticks) + mark,
            None => none.to_owned(),
        });
        table.cpu_row(&logged.run, cell.cpu, entries);
    }
    table.finished()
}

/// Returns the marker that follows an unverified figure.
pub(super) const fn mark(is_doubtful: bool) -> &'static str {
    if is_doubtful { " ?" } else { "" }
}

fn spread_table(logged: &LoggedRun, scenario: &Scenario, columns: &[Metric]) -> Option<Table> {
    let title = format!(
        "{}: spread ({})",
        table_title(logged, scenario),
        logged.unit()
    );
    let mut table = Table::of_cpus(title);
    table.words(["Figure"]);
    statistics_columns(&mut table);
    for metric in columns {
        for cell in scenario.suite_cells() {
            if let Some(summary) = cell.summary(*metric) {
                let mut entries = vec![metric.heading().to_owned()];
                entries.extend(statistics(Some(summary), |ticks| logged.duration(ticks)));
                table.cpu_row(&logged.run, cell.cpu, entries);
            }
        }
    }
    table.finished()
}

/// The maximum number of findings of one kind that are listed individually.
const OF_A_KIND_MAX: usize = 8;

/// Returns the findings. If there are many findings of one kind, lists only the first few.
pub(super) fn remarks(logged: &LoggedRun, scenario: &Scenario) -> Vec<String> {
    let findings = findings(logged, scenario);
    let mut remarks = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        let count_alike = |findings: &[Finding]| {
            let alike = findings.iter().filter(|other| other.kind == finding.kind);
            alike.count()
        };
        let before = count_alike(&findings[..index]);
        if before < OF_A_KIND_MAX {
            remarks.push(finding.sentence.clone());
        } else if before == OF_A_KIND_MAX {
            let count = count_alike(&findings) - before;
            remarks.push(format!(
                "And {count} more of this kind; `--format json` lists them all."
            ));
        }
    }
    remarks
}

/// Returns the words that distinguish a scenario's tables.
fn table_title(logged: &LoggedRun, scenario: &Scenario) -> String {
    let mut title = scenario.id.name().to_owned();
    if scenario.method != Method::Tftf {
        title += &format!(", method {}", scenario.method.word());
    }
    if !scenario.has_pmf() {
        title += ", caller's side";
    }
    title + &woken_by(logged, scenario.helper, ",")
}
