//! A scenario's tables and the sentences that explain them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::Metric;
use crate::model::{Cell, Conditions, Run, Scenario};
use crate::plan::{Method, ScenarioId};
use hardware::text::plural::Many;
use hardware::text::prose::paragraph;

use super::grid::{Column, GridCell, grid, simple};

/// Writes the tables and sentences, or nothing if there are no results.
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

/// Returns the title of the main table.
fn title(run: &Run, scenario: &Scenario) -> String {
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
    format!("{name}{variant}{helper} ({unit})")
}

/// Writes one row per CPU and one column per metric.
fn main_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    metrics: &[Metric],
) -> fmt::Result {
    let grid_cell = |cell: &Cell, metric: Metric| match cell.skipped {
        Some(_) => GridCell::Text("Skipped"),
        None => GridCell::ticks(run.clock(), cell.figure(metric)),
    };
    let columns = metrics.iter().map(|metric| {
        let cells = scenario.cells.iter();
        let cells = cells.map(|cell| grid_cell(cell, *metric));
        (metric.heading(), cells.collect())
    });
    let columns: Vec<Column> = columns.collect();
    let cpus: Vec<_> = scenario.cells.iter().map(|cell| cell.cpu).collect();
    grid(out, run, &title(run, scenario), &cpus, &columns)
}

/// Writes one row per CPU and one column per metric. Reports also show MAD and p99.
fn spread_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    metrics: &[Metric],
) -> fmt::Result {
    let cells = &scenario.cells;
    let names = cells.iter().map(|it| GridCell::Cpu(run.label(it.cpu)));
    let counts = cells.iter().map(|it| GridCell::Count(it.valid().into()));
    let columns = metrics.iter().map(|metric| {
        let spread = |cell: &Cell| match cell.summary(*metric) {
            Some(it) => GridCell::Spread(run.clock(), [it.min, it.median, it.max]),
            None => GridCell::Missing,
        };
        (metric.heading(), cells.iter().map(spread).collect())
    });
    let columns: Vec<Column> = columns.collect();
    let title = format!(
        "Spread of the samples: min/median/max ({})",
        run.clock().unit()
    );
    let names = [("CPU", names.collect()), ("n", counts.collect())];
    simple(out, &title, &names, &columns)
}

fn explanation(run: &Run, scenario: &Scenario, metrics: &[Metric]) -> String {
    let parallel = scenario.id.is_parallel();
    let none = Conditions::default();
    let conditions = scenario.conditions.as_ref().unwrap_or(&none);
    let (one, together) = match parallel {
        true => ("round", ""),
        false => ("attempt", " on all CPUs"),
    };
    let samples = Many(conditions.asked.into(), "sample");
    let made = Many(conditions.attempts.into(), one);
    let method = scenario.method.word();
    let mut text = format!("Method {method}: {samples} per CPU requested, {made} made{together}. ");
    text += &wake_ups(run, scenario, conditions);
    if parallel {
        text += &skew(run, conditions);
    }
    for metric in metrics {
        text += meaning(*metric, scenario.id);
    }
    text
}

/// Describes the wake-ups. Returns an empty string if there is no suspend.
fn wake_ups(run: &Run, scenario: &Scenario, conditions: &Conditions) -> String {
    let (Some(power_state), Some(plan)) = (conditions.power_state, run.plan) else {
        return String::new();
    };
    let pattern = plan.wake_by(scenario.method).word();
    let first = match scenario.id.is_parallel() {
        true => format!("wake={pattern}, the first "),
        false => String::new(),
    };
    let sleep = run.clock().span(conditions.sleep);
    format!("power_state {power_state:#010x}; {first}wake-up {sleep} after the start. ")
}

fn skew(run: &Run, conditions: &Conditions) -> String {
    let skew = conditions.skew.filter(|skew| skew.n > 0);
    skew.map_or_else(String::new, |skew| {
        let [median, most] = [skew.median, skew.max].map(|it| run.clock().span(it));
        let rounds = Many(skew.n.into(), "round");
        format!(
            "Calls started within {median} of each other (median of {rounds}; at most {most}). "
        )
    })
}

/// Returns the meaning of a caller-side metric. TF-A defines the PMF metrics.
fn meaning(metric: Metric, id: ScenarioId) -> &'static str {
    match metric {
        Metric::Call if !id.is_suspend() => "Call is measured from the call to its return. ",
        Metric::Call => {
            "Call is measured from the call until the CPU resumes, including the sleep. "
        }
        Metric::Wake => "Wake is measured from the scheduled wake-up until the CPU resumes. ",
        Metric::TurnOff => "Turn Off is measured from CPU_OFF until AFFINITY_INFO returns OFF. ",
        Metric::TurnOn => "Turn On is measured from CPU_ON to the first instruction. ",
        _ => "",
    }
}
