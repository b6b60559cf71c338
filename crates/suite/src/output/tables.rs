//! A scenario's tables and the sentences that explain them.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use core::fmt::{self, Write};

use crate::measure::Metric;
use crate::model::{Conditions, FigureScale, Run, Scenario};
use crate::plan::Method;
use hardware::text::join::join;
use hardware::text::plural::Many;
use hardware::text::prose::paragraph;

use super::table::{Table, TableStyle, text_or_absent, write_table};

/// Writes the tables and sentences, or nothing if there are no results.
pub(crate) fn write_suite_tables(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
) -> fmt::Result {
    let metrics = scenario.columns();
    if metrics.is_empty() {
        return Ok(());
    }
    main_table(out, run, scenario, &metrics)?;
    spread_table(out, run, scenario, &metrics)?;
    paragraph(out, "", 0, &explanation(run, scenario, &metrics))?;
    out.write_char('\n')
}

/// Returns the title of the main table.
fn title(run: &Run, scenario: &Scenario) -> String {
    let conditions = match (scenario.method, scenario.has_pmf()) {
        (Method::Tftf, true) => "",
        (Method::Tftf, false) => ", caller's side",
        (Method::Warm, true) => ", CPUs kept on",
        (Method::Warm, false) => ", CPUs kept on, caller's side",
    };
    let helper = scenario.helper.map_or_else(String::new, |helper| {
        format!(", woken by CPU {}", run.label(helper))
    });
    let (name, unit) = (scenario.id.name(), run.clock().unit());
    format!("{name}{conditions}{helper} ({unit})")
}

/// Writes one row per CPU and one column per metric.
fn main_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    metrics: &[Metric],
) -> fmt::Result {
    let mut table = Table::of_cpus(title(run, scenario));
    table.end_names();
    table.numbers(metrics.iter().map(|metric| metric.heading()));
    for cell in &scenario.cells {
        let entry = |metric: &Metric| {
            if cell.skipped.is_some() {
                return "Skipped".into();
            }
            let figure = cell.figure(*metric);
            text_or_absent(figure.map(|figure| text(run, *metric, figure)))
        };
        table.cpu_row(run, cell.cpu, metrics.iter().map(entry));
    }
    write_table(out, table, &TableStyle::GRID)
}

/// Writes one row per CPU and one column per metric. Reports also show MAD and p99.
fn spread_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    metrics: &[Metric],
) -> fmt::Result {
    let unit = run.clock().unit();
    let mut table = Table::titled(format!("Spread of the samples: min/median/max ({unit})"));
    table.words(["CPU"]);
    table.numbers(["n"]);
    table.end_names();
    table.numbers(metrics.iter().map(|metric| metric.heading()));
    for cell in &scenario.cells {
        let spread = |metric: &Metric| {
            let summary = cell.summary(*metric)?;
            let figures = [summary.min, summary.median, summary.max];
            let texts = figures.map(|figure| text(run, *metric, figure));
            Some(join(texts.iter(), "/"))
        };
        let mut row = vec![run.label(cell.cpu).to_string(), cell.valid().to_string()];
        row.extend(metrics.iter().map(|metric| text_or_absent(spread(metric))));
        table.rows.push(row);
    }
    write_table(out, table, &TableStyle::SIMPLE)
}

/// Returns a figure as tables show it.
fn text(run: &Run, metric: Metric, figure: u64) -> String {
    FigureScale::of_tables(run.clock(), metric, 1).text(figure)
}

/// Returns the text below the tables.
fn explanation(run: &Run, scenario: &Scenario, metrics: &[Metric]) -> String {
    let unknown = Conditions::default();
    let conditions = scenario.conditions.as_ref().unwrap_or(&unknown);
    let is_parallel = scenario.id.is_parallel();
    let (attempt, on_cpus) = if is_parallel {
        ("round", "")
    } else {
        ("attempt", " on all CPUs")
    };
    let samples = Many(conditions.requested_samples.into(), "sample");
    let attempts = Many(conditions.attempts.into(), attempt);
    let method = scenario.method.word();
    let mut text =
        format!("Method {method}: {samples} per CPU requested, {attempts} made{on_cpus}. ");
    text += &wake_ups(run, scenario, conditions);
    if is_parallel {
        text += &skew(run, conditions);
    }
    for metric in metrics {
        text += metric.meaning(scenario.id.is_suspend());
    }
    text
}

/// Describes the wake-ups. Returns an empty string if there is no suspend.
fn wake_ups(run: &Run, scenario: &Scenario, conditions: &Conditions) -> String {
    let (Some(power_state), Some(plan)) = (conditions.power_state, run.plan) else {
        return String::new();
    };
    let pattern = plan.wake_by(scenario.method).word();
    let first = if scenario.id.is_parallel() {
        format!("wake={pattern}, the first ")
    } else {
        String::new()
    };
    if conditions.sleep == 0 {
        // Only the lead would have been suspended.
        return String::new();
    }
    let sleep = run.clock().span(conditions.sleep);
    format!("power_state {power_state:#010x}; {first}wake-up {sleep} after the start. ")
}

/// Describes how far apart the CPUs' calls were. Returns an empty string if that is unknown.
fn skew(run: &Run, conditions: &Conditions) -> String {
    let Some(skew) = conditions.skew.filter(|skew| skew.n > 0) else {
        return String::new();
    };
    let [median, longest] = [skew.median, skew.max].map(|ticks| run.clock().span(ticks));
    let rounds = Many(skew.n.into(), "round");
    format!("Calls started within {median} of each other (median of {rounds}; at most {longest}). ")
}
