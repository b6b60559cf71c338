//! Tables of a scenario, and the sentences that explain them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::grid::{Cell, cpu_headings, push_cpu, table};
use crate::measure::{Metric, Summary};
use crate::model::{Conditions, Row, Run, Scenario, heading};
use crate::plan::{Method, ScenarioId, WakePattern};
use crate::spec::prose::{Many, append, paragraph};
use crate::spec::ticks::Clock;

/// Writes them all; nothing without any figure.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    let metrics = scenario.columns();
    if metrics.is_empty() {
        return Ok(());
    }
    main_table(out, run, scenario, &metrics)?;
    spread_table(out, run, scenario, &metrics)?;
    paragraph(out, "", 0, &explanation(run, scenario, &metrics))?;
    out.write_char('\n')
}

/// Returns a table's title, with what it `shows` of the scenario.
fn title(run: &Run, scenario: &Scenario, shows: &str) -> String {
    let variant = match (scenario.method, scenario.has_pmf()) {
        (Method::Tftf, true) => "",
        (Method::Tftf, false) => ", caller's side",
        (Method::Warm, true) => ", CPUs kept on",
        (Method::Warm, false) => ", CPUs kept on, caller's side",
    };
    let helper = scenario.helper.map_or_else(String::new, |helper| {
        format!(", woken by CPU {}", run.label(helper))
    });
    let (name, unit) = (scenario.id.name(), run.clock().unit());
    format!("{name}{variant}{helper}{shows} ({unit})")
}

/// Writes one row a CPU, one column a figure.
fn main_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    metrics: &[Metric],
) -> fmt::Result {
    let cell = |row: &Row, metric: Metric| match row.skipped {
        Some(_) => Cell::Text("Skipped"),
        None => Cell::ticks(run.clock(), scenario.figure(row, metric)),
    };
    let names = metrics.iter().map(|metric| heading(*metric));
    let headings: Vec<_> = cpu_headings(run).iter().copied().chain(names).collect();
    let mut cells = Vec::with_capacity(scenario.rows.len() * headings.len());
    for row in &scenario.rows {
        push_cpu(&mut cells, run, row.cpu);
        for metric in metrics {
            cells.push(cell(row, *metric));
        }
    }
    table(out, &title(run, scenario, ""), &headings, &cells)
}

/// Writes one row a figure and CPU, one column a statistic.
fn spread_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    metrics: &[Metric],
) -> fmt::Result {
    // A percentile takes many samples: without any there is no column.
    let mut all = scenario.rows.iter().flat_map(|row| &row.statistics);
    let has_p99 = all.any(|statistic| statistic.summary.p99.is_some());
    let mut headings = cpu_headings(run).to_vec();
    headings.extend(["Figure", "n", "Min", "Median"]);
    headings.extend(has_p99.then_some("p99"));
    headings.extend(["Max", "MAD"]);
    let mut cells = Vec::with_capacity(metrics.len() * scenario.rows.len() * headings.len());
    for metric in metrics {
        for row in &scenario.rows {
            push_cpu(&mut cells, run, row.cpu);
            cells.push(Cell::Text(heading(*metric)));
            push_statistic(&mut cells, run.clock(), row.summary(*metric), has_p99);
        }
    }
    let shows = ": spread of the samples";
    table(out, &title(run, scenario, shows), &headings, &cells)
}

/// Adds the cells of statistics.
fn push_statistic(cells: &mut Vec<Cell>, clock: Clock, summary: Option<&Summary>, has_p99: bool) {
    cells.push(Cell::Count(summary.map_or(0, |it| it.n.into())));
    let mut push = |figure: Option<u64>| cells.push(Cell::ticks(clock, figure));
    push(summary.map(|it| it.min));
    push(summary.map(|it| it.median));
    if has_p99 {
        push(summary.and_then(|it| it.p99));
    }
    push(summary.map(|it| it.max));
    push(summary.map(|it| it.mad));
}

/// Explains how the figures were measured, and what rows and columns are.
fn explanation(run: &Run, scenario: &Scenario, metrics: &[Metric]) -> String {
    let parallel = scenario.id.is_parallel();
    let none = Conditions::default();
    let conditions = scenario.conditions.as_ref().unwrap_or(&none);
    let (one, together) = if parallel {
        ("round", "")
    } else {
        ("attempt", " on all CPUs")
    };
    let mut text = format!(
        "Method {}: {} a CPU asked for, {} made{together}. ",
        scenario.method.word(),
        Many(conditions.asked.into(), "sample"),
        Many(conditions.attempts.into(), one),
    );
    text += &wake_ups(run, scenario, conditions);
    if parallel {
        text += &round(run, conditions, metrics);
    } else {
        text += "The first table has each CPU's medians. ";
    }
    for metric in metrics {
        text += meaning(*metric, scenario.id);
    }
    text
}

/// Describes the wake-ups; nothing without a suspend.
fn wake_ups(run: &Run, scenario: &Scenario, conditions: &Conditions) -> String {
    let (Some(power_state), Some(plan)) = (conditions.power_state, run.plan) else {
        return String::new();
    };
    let how = match plan.wake_by(scenario.method) {
        _ if !scenario.id.is_parallel() => "wake-up",
        WakePattern::Together => "all wake together",
        WakePattern::Staggered => "wake-ups staggered, the first",
        WakePattern::Chain if scenario.helper.is_some() => {
            "each woken CPU wakes the next by SGI, the first"
        }
        WakePattern::Chain => "the lead wakes all others by SGI, itself",
    };
    let sleep = run.clock().span(conditions.sleep);
    format!("power_state {power_state:#010x}; {how} {sleep} after the start. ")
}

/// Describes the round that the first table shows.
fn round(run: &Run, conditions: &Conditions, metrics: &[Metric]) -> String {
    let first = metrics.first().copied().unwrap_or(Metric::Call);
    let mut text = format!(
        "The first table is one round, the one whose longest {} is the median. ",
        heading(first)
    );
    if let Some(skew) = conditions.skew.filter(|skew| skew.n > 0) {
        append(
            &mut text,
            format_args!(
                "Calls began within {} of each other (median of {}; at most {}). ",
                run.clock().span(skew.median),
                Many(skew.n.into(), "round"),
                run.clock().span(skew.max)
            ),
        );
    }
    text
}

/// Returns the meaning of a figure of the caller's side; TF-A defines PMF's.
fn meaning(metric: Metric, id: ScenarioId) -> &'static str {
    match metric {
        Metric::Call if id == ScenarioId::PsciVersionParallel => {
            "Call is from the call to its return. "
        }
        Metric::Call => "Call is from the call to the resume, the sleep between them included. ",
        Metric::Wake => "Wake is from the due wake-up to the resume. ",
        Metric::TurnOff => "Turn Off is from CPU_OFF to AFFINITY_INFO saying OFF. ",
        Metric::TurnOn => "Turn On is from CPU_ON to the first instruction. ",
        _ => "",
    }
}
