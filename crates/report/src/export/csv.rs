//! `csv`: one line per figure (for a history, per figure and release), with a header line.

use std::io::Write;

use anyhow::Result;
use csv::WriterBuilder;
use serde::Serialize;
use suite::measure::Unit;
use suite::model::Scenario;

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

/// Returns a line with one field per column. Fields without a figure are empty.
fn line(run: &LoggedRun, scenario: &Scenario, figure: &Figure<'_>) -> impl Serialize {
    let cpu = run.run.cpu(figure.cpu);
    let summary = figure.summary;
    let is_time = figure.key.unit() == Unit::Ticks;
    let shown = figure.shown.filter(|_| is_time);
    let ns = |ticks: Option<u64>| ticks.filter(|_| is_time).and_then(|it| run.ns(it));
    let conditions = scenario.conditions.as_ref();
    let power_state = conditions.and_then(|it| it.power_state);
    let power_state = power_state.or(figure.cell.power_state);
    let (key, cell) = (figure.key, figure.cell);
    let counts = cell.counts.as_ref();
    let wake_source = cell.wake_source.or(conditions.map(|it| it.wake_source));
    let helper = cell.helper.or(scenario.helper);
    let step = key.is_of_step().then_some(key.step);
    let of_step = summary.filter(|_| key.is_of_step());
    let rejected = match step {
        Some(_) => Some(cell.not_counted(key.metric)),
        None => counts.map(|it| it.rejected_total()),
    };
    // A skipped step has no figure.
    let [filled, filled_step] = [summary, of_step].map(|it| it.filter(|it| it.n > 0));
    object! {
        input: &run.source.input,
        run: run.source.place,
        model: run.board(),
        firmware: run.firmware_version(),
        scenario: scenario.id.tag(),
        method: scenario.method.word(),
        status: reason_word(&scenario.status),
        power_state: power_state.map(|it| format!("{it:#x}")),
        mpidr: cpu.mpidr.map(|it| it.to_string()),
        cluster: cpu.cluster,
        core: cpu.core,
        thread: cpu.thread,
        metric: figure.key.word(),
        shown_ticks: shown,
        shown_ns: ns(shown),
        // 1 if the figure is from a record.
        verified: u8::from(!figure.is_doubtful && !run.integrity.tables),
        n: summary.map(|it| it.n),
        min_ns: ns(filled.map(|it| it.min)),
        median_ns: ns(filled.map(|it| it.median)),
        p99_ns: ns(filled.and_then(|it| it.p99)),
        max_ns: ns(filled.map(|it| it.max)),
        mad_ns: ns(filled.map(|it| it.mad)),
        valid: of_step.map(|it| it.n).or(counts.map(|it| it.valid)),
        rejected: rejected,
        hz: run.run.facts.as_ref().map(|it| it.frequency),
        // The remaining fields are only for steps. Those from `min` onward are in `unit`.
        how: step.map(|it| it.cpus.word()),
        variant: step.map(|_| cell.variant_word()),
        x: step.and_then(|it| it.value),
        unit: step.map(|_| if is_time { "ticks" } else { key.scale(run.clock()).name() }),
        per: step.map(|it| it.operations),
        lost: step.and(rejected),
        min: filled_step.map(|it| it.min),
        median: filled_step.map(|it| it.median),
        p99: filled_step.and_then(|it| it.p99),
        max: filled_step.map(|it| it.max),
        mad: filled_step.map(|it| it.mad),
        waker: wake_source.map(|it| it.word()),
        helper: helper.and_then(|it| run.run.cpu(it).mpidr).map(|it| it.to_string()),
    }
}
