//! `csv`: one line a figure, with a header line.

use std::io::Write;

use anyhow::Result;
use csv::WriterBuilder;
use psci_bench::model::{Scenario, Unit};
use serde::Serialize;

use super::report_data::Report;
use super::scenario_document::status_word;
use crate::report::analysis::figure::{Figure, FigureKey, Origin, figures};
use crate::report::log::LoggedRun;

/// A line; its fields are the columns. An empty field is a figure that is not there.
#[derive(Serialize)]
struct CsvLine<'r> {
    input: &'r str,
    run: u32,
    model: &'r str,
    firmware: &'r str,
    scenario: &'static str,
    method: &'static str,
    status: &'static str,
    power_state: String,
    mpidr: String,
    cluster: u16,
    core: u16,
    thread: u16,
    metric: &'static str,
    shown_ticks: Option<u64>,
    shown_ns: Option<u64>,
    verified: u8,
    n: Option<u32>,
    min_ns: Option<u64>,
    median_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
    mad_ns: Option<u64>,
    valid: Option<u32>,
    rejected: Option<u64>,
    hz: Option<u64>,
    /// The first field that only points have; those from `min` on are in `unit`.
    how: &'static str,
    variant: &'static str,
    x: Option<u64>,
    unit: &'static str,
    per: Option<u32>,
    lost: Option<u64>,
    min: Option<u64>,
    median: Option<u64>,
    p99: Option<u64>,
    max: Option<u64>,
    mad: Option<u64>,
    /// The interrupt that woke the CPU.
    waker: &'static str,
    /// The MPIDR of the CPU that stayed awake.
    helper: String,
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let mut out = WriterBuilder::new().from_writer(out);
    for run in &report.runs {
        for scenario in &run.run.scenarios {
            for figure in figures(run, scenario) {
                out.serialize(line(run, scenario, &figure))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

fn line<'r>(run: &'r LoggedRun, scenario: &Scenario, figure: &Figure<'_>) -> CsvLine<'r> {
    let cpu = run.run.cpu(figure.cpu);
    let summary = figure.summary;
    let is_time = figure.key.unit() == Unit::Ticks;
    let shown = figure.shown.filter(|_| is_time);
    let ns = |ticks: Option<u64>| ticks.filter(|_| is_time).and_then(|it| run.ns(it));
    let conditions = scenario.conditions.as_ref();
    let point = match figure.key {
        FigureKey::Point(point) => Some(point),
        FigureKey::Row { .. } => None,
    };
    let of_point = summary.filter(|_| point.is_some());
    let (valid, rejected, lost, helper) = counts(figure);
    let helper = helper.or(scenario.helper);
    let helper = helper.and_then(|cpu| run.run.cpu(cpu).mpidr);
    CsvLine {
        input: &run.source.input,
        run: run.source.place,
        model: run.board().unwrap_or_default(),
        firmware: run.firmware_version().unwrap_or_default(),
        scenario: scenario.id.tag(),
        method: scenario.method.word(),
        status: status_word(scenario.status),
        power_state: hex(conditions.and_then(|it| it.power_state).map(u64::from)),
        mpidr: hex(cpu.mpidr),
        cluster: cpu.cluster,
        core: cpu.core,
        thread: cpu.thread,
        metric: figure.key.word(),
        shown_ticks: shown,
        shown_ns: ns(shown),
        verified: u8::from(is_verified(run, figure)),
        n: summary.map(|it| it.n),
        min_ns: ns(summary.map(|it| it.min)),
        median_ns: ns(summary.map(|it| it.median)),
        p99_ns: ns(summary.and_then(|it| it.p99)),
        max_ns: ns(summary.map(|it| it.max)),
        mad_ns: ns(summary.map(|it| it.mad)),
        valid,
        rejected,
        hz: run.run.facts.as_ref().map(|it| it.frequency),
        how: point.map_or("", |it| it.how.word()),
        variant: point.map_or("", |it| it.variant.word()),
        x: point.and_then(|it| it.x),
        unit: match point {
            None => "",
            Some(_) if is_time => "ticks",
            Some(_) => figure.key.unit_name(run.clock()),
        },
        per: point.map(|it| it.per),
        lost,
        min: of_point.map(|it| it.min),
        median: of_point.map(|it| it.median),
        p99: of_point.and_then(|it| it.p99),
        max: of_point.map(|it| it.max),
        mad: of_point.map(|it| it.mad),
        waker: conditions.map_or("", |it| it.wake_source.word()),
        helper: hex(helper),
    }
}

/// Returns the samples that count, those that do not, and those of a point that were
/// lost, and the row's helper.
fn counts(figure: &Figure<'_>) -> (Option<u32>, Option<u64>, Option<u64>, Option<u16>) {
    match figure.origin {
        Origin::Row(row) => {
            let attempts = row.attempts.as_ref();
            let rejected = attempts.map(|it| it.rejected_total().into());
            (attempts.map(|it| it.valid), rejected, None, row.helper)
        }
        Origin::Point(point) => {
            let (n, lost) = (Some(point.figures.n), Some(point.lost));
            (n, lost, lost, None)
        }
    }
}

/// Returns true for a figure of a record.
fn is_verified(run: &LoggedRun, figure: &Figure<'_>) -> bool {
    !figure.is_doubtful && !run.integrity.tables
}

fn hex(value: Option<u64>) -> String {
    value.map_or(String::new(), |value| format!("{value:#x}"))
}
