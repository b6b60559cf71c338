//! `csv`: one line per figure (for a history, per figure and release), with a header line.

use std::io::Write;

use anyhow::Result;
use csv::WriterBuilder;
use hardware::board::Mpidr;
use serde::Serialize;
use suite::measure::Unit;
use suite::model::{Cell, Conditions, Counts, Scenario, WakeSource};

use super::history_lines::history_lines;
use super::object::object;
use super::report_data::Report;
use crate::analysis::figure::{Figure, figures};
use crate::log::{LoggedRun, reason_word};

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let mut out = WriterBuilder::new().from_writer(out);
    if let Some(history) = &report.history {
        for line in history_lines(history, &report.runs) {
            out.serialize(line)?;
        }
        out.flush()?;
        return Ok(());
    }
    for logged in &report.runs {
        for scenario in &logged.run.scenarios {
            for figure in figures(logged, scenario) {
                out.serialize(line(logged, scenario, &figure))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

fn power_state(conditions: Option<&Conditions>, cell: &Cell) -> Option<u32> {
    conditions
        .and_then(|conditions| conditions.power_state)
        .or(cell.power_state)
}

fn wake_source(conditions: Option<&Conditions>, cell: &Cell) -> Option<WakeSource> {
    cell.wake_source
        .or(conditions.map(|conditions| conditions.wake_source))
}

/// Returns the CPU that woke the cell's CPU or turned it on.
fn helper(logged: &LoggedRun, scenario: &Scenario, cell: &Cell) -> Option<Mpidr> {
    logged.run.cpu(cell.helper.or(scenario.helper)?).mpidr
}

/// Returns a line with one field per column. Fields without a figure are empty.
fn line(logged: &LoggedRun, scenario: &Scenario, figure: &Figure<'_>) -> impl Serialize {
    let cpu = logged.run.cpu(figure.cpu);
    let summary = figure.summary;
    let is_time = figure.key.unit() == Unit::Ticks;
    let shown = figure.shown.filter(|_| is_time);
    let ns = |ticks: Option<u64>| if is_time { logged.ns(ticks?) } else { None };
    let key = figure.key;
    let cell = figure.cell;
    let conditions = scenario.conditions.as_ref();
    let counts = cell.counts.as_ref();
    let step = key.is_of_step().then_some(key.step);
    let step_summary = summary.filter(|_| key.is_of_step());
    let rejected = match step {
        Some(_) => Some(cell.not_counted(key.metric)),
        None => counts.map(Counts::rejected_total),
    };
    // A skipped step has no figure.
    let filled = summary.filter(|summary| summary.n > 0);
    let filled_step = step_summary.filter(|summary| summary.n > 0);
    object! {
        input: &logged.source.input,
        run: logged.source.run_number,
        model: logged.board(),
        firmware: logged.firmware_version(),
        scenario: scenario.id.tag(),
        method: scenario.method.word(),
        status: reason_word(&scenario.status),
        power_state: power_state(conditions, cell).map(|state| format!("{state:#x}")),
        mpidr: cpu.mpidr.map(|mpidr| mpidr.to_string()),
        cluster: cpu.cluster,
        core: cpu.core,
        thread: cpu.thread,
        metric: figure.key.word(),
        shown_ticks: shown,
        shown_ns: ns(shown),
        // 1 if the figure is from a record.
        verified: u8::from(!figure.is_doubtful && !logged.integrity.tables),
        n: summary.map(|summary| summary.n),
        min_ns: ns(filled.map(|summary| summary.min)),
        median_ns: ns(filled.map(|summary| summary.median)),
        p99_ns: ns(filled.and_then(|summary| summary.p99)),
        max_ns: ns(filled.map(|summary| summary.max)),
        mad_ns: ns(filled.map(|summary| summary.mad)),
        valid: step_summary.map(|summary| summary.n).or(counts.map(|counts| counts.valid)),
        rejected: rejected,
        hz: logged.run.facts.as_ref().map(|facts| facts.frequency),
        // The remaining fields are only for steps. Those from `min` onward are in `unit`.
        how: step.map(|step| step.cpus.word()),
        variant: step.map(|_| cell.variant_word()),
        x: step.and_then(|step| step.value),
        unit: step.map(|_| if is_time { "ticks" } else { key.scale(logged.clock()).name() }),
        per: step.map(|step| step.operations),
        lost: step.and(rejected),
        min: filled_step.map(|summary| summary.min),
        median: filled_step.map(|summary| summary.median),
        p99: filled_step.and_then(|summary| summary.p99),
        max: filled_step.map(|summary| summary.max),
        mad: filled_step.map(|summary| summary.mad),
        waker: wake_source(conditions, cell).map(WakeSource::word),
        helper: helper(logged, scenario, cell).map(|mpidr| mpidr.to_string()),
    }
}
