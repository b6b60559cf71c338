//! Converts a scenario to blocks, in reading order.

use hardware::board::CpuIndex;
use hardware::text::plural::many;
use suite::measure::Metric;
use suite::model::{Failure, Finding, Scenario, Skip, Status, WakeSource};
use suite::plan::{Method, ScenarioId};

use super::check_tables::check_tables;
use super::document::{Block, Charts, ScenarioHeading};
use super::step_tables::step_tables;
use super::table::{statistics, statistics_columns};
use crate::analysis::findings::findings;
use crate::log::{LoggedRun, reason_word};
use suite::output::Table;

/// Returns a scenario's heading, which includes the helper if placements differ.
pub(super) fn heading(run: &LoggedRun, scenario: &Scenario, id: String) -> ScenarioHeading {
    ScenarioHeading {
        id,
        text: scenario.id.name().to_owned() + &woken_by(run, scenario.helper, ","),
        status: Some(reason_word(&scenario.status)),
        method: scenario.method.word(),
    }
}

/// Returns a phrase about the helper, starting with `comma`, or an empty string if there is none.
pub(super) fn woken_by(run: &LoggedRun, helper: Option<CpuIndex>, comma: &str) -> String {
    let text = |cpu| format!("{comma} woken by CPU {}", run.run.label(cpu));
    helper.map_or_else(String::new, text)
}

pub(super) fn scenario<'r>(
    run: &'r LoggedRun,
    scenario: &'r Scenario,
    heading: ScenarioHeading,
) -> Vec<Block<'r>> {
    let id = heading.id.clone();
    let mut all = vec![
        Block::Scenario(heading),
        Block::Paragraph(format!("{}.", conditions_text(run, scenario))),
    ];
    let columns = scenario.columns();
    let of_suite = [main_table, spread_table].map(|table| table(run, scenario, &columns));
    let of_suite = of_suite.into_iter().flatten();
    let tables = of_suite.chain(step_tables(run, scenario));
    let mut tables = tables.chain(check_tables(run, scenario));
    all.extend(tables.next().map(Block::Table));
    let remarks = remarks(run, scenario);
    if !remarks.is_empty() {
        all.push(Block::Remarks(remarks));
    }
    all.push(Block::Charts(Charts { id, run, scenario }));
    all.extend(tables.map(Block::Table));
    all
}

/// Returns the conditions under which a scenario ran, and how it ended.
pub(super) fn conditions_text(run: &LoggedRun, scenario: &Scenario) -> String {
    let (id, method) = (scenario.id, scenario.method.word());
    let reason = status_reason(run, scenario.status);
    let reason = reason.map_or_else(String::new, |it| format!(" ({it})"));
    let status = reason_word(&scenario.status);
    let mut all = vec![format!("{id}, method {method}, {status}{reason}")];
    let skipped = run.skipped_rows(scenario).into_iter();
    all.extend(skipped.map(|(cpus, reason)| format!("{cpus} skipped ({reason})")));
    let Some(it) = &scenario.conditions else {
        return all.join("; ");
    };
    let state = it.power_state;
    let state = state.map(|state| format!("power_state {state:#010x}"));
    all.extend(match (state, wake_source_text(id, it.wake_source)) {
        (Some(state), Some(source)) => Some(format!("{state}, in which timers stop: {source}")),
        (None, Some(source)) => Some(format!("from states in which timers stop: {source}")),
        (state, None) => state,
    });
    if matches!(scenario.status, Status::Skipped(_)) {
        return all.join("; ");
    }
    if id.is_suite() {
        all.extend((!it.pmf).then(|| "the caller's side".to_owned()));
        let [asked, attempts] = [it.asked, it.attempts].map(|it| it as usize);
        let noun = if id.is_parallel() { "round" } else { "attempt" };
        let (asked, attempts) = (many(asked, "sample"), many(attempts, noun));
        all.push(format!("{asked} per CPU requested, {attempts}"));
    }
    if it.sleep > 0 {
        let sleep = run.clock().span(it.sleep);
        all.push(format!("first wake-up after {sleep}"));
    }
    if let Some(skew) = &it.skew {
        let median = run.clock().span(skew.median);
        all.push(format!("calls within {median} of each other"));
    }
    all.join("; ")
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
pub(super) fn status_reason(run: &LoggedRun, status: Status) -> Option<String> {
    match status {
        Status::Skipped(Skip::NotStated) | Status::Failed(Failure::NotStated) => None,
        Status::Skipped(reason) => Some(reason.to_string()),
        Status::Failed(reason) => Some(reason.sentence(&run.run)),
        Status::Passed | Status::Crashed | Status::Unknown => None,
    }
}

fn main_table(run: &LoggedRun, scenario: &Scenario, columns: &[Metric]) -> Option<Table> {
    let title = format!("{} ({})", table_title(run, scenario), run.unit());
    let mut table = Table::of_cpus(title);
    table.numbers(columns.iter().map(|metric| metric.heading()));
    for cell in scenario
        .suite_cells()
        .iter()
        .filter(|_| !columns.is_empty())
    {
        let mark = mark(run.is_doubtful(cell));
        let none = cell.skipped.map_or("n/a", |_| "skipped");
        let cells = columns.iter().map(|metric| {
            let figure = cell.figure(*metric);
            figure.map_or(none.to_owned(), |it| run.duration(it) + mark)
        });
        table.cpu_row(&run.run, cell.cpu, cells);
    }
    table.finished()
}

/// Returns the marker that follows an unverified figure.
pub(super) const fn mark(is_doubtful: bool) -> &'static str {
    if is_doubtful { " ?" } else { "" }
}

fn spread_table(run: &LoggedRun, scenario: &Scenario, columns: &[Metric]) -> Option<Table> {
    let title = format!("{}: spread ({})", table_title(run, scenario), run.unit());
    let mut table = Table::of_cpus(title);
    table.words(["Figure"]);
    statistics_columns(&mut table);
    for metric in columns {
        for cell in scenario.suite_cells() {
            if let Some(summary) = cell.summary(*metric) {
                let mut cells = vec![metric.heading().to_owned()];
                cells.extend(statistics(Some(summary), |it| run.duration(it)));
                table.cpu_row(&run.run, cell.cpu, cells);
            }
        }
    }
    table.finished()
}

/// The maximum number of findings of one kind that are listed individually.
const OF_A_KIND_MAX: usize = 8;

/// Returns the findings. If there are many findings of one kind, lists only the first few.
pub(super) fn remarks(run: &LoggedRun, scenario: &Scenario) -> Vec<String> {
    let findings = findings(run, scenario);
    let mut all = Vec::new();
    for (place, finding) in findings.iter().enumerate() {
        let of_kind = |all: &[Finding]| all.iter().filter(|it| it.kind == finding.kind).count();
        let before = of_kind(&findings[..place]);
        if before < OF_A_KIND_MAX {
            all.push(finding.sentence.clone());
        } else if before == OF_A_KIND_MAX {
            let count = of_kind(&findings) - before;
            all.push(format!(
                "And {count} more of this kind; `--format json` lists them all."
            ));
        }
    }
    all
}

/// Returns the words that distinguish a scenario's tables.
fn table_title(run: &LoggedRun, scenario: &Scenario) -> String {
    let mut title = scenario.id.name().to_owned();
    if scenario.method != Method::Tftf {
        title += &format!(", method {}", scenario.method.word());
    }
    if !scenario.has_pmf() {
        title += ", caller's side";
    }
    title + &woken_by(run, scenario.helper, ",")
}
