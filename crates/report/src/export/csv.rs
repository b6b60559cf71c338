//! `csv`: one line a figure, with a header line.

use std::io::Write;

use anyhow::Result;
use csv::WriterBuilder;
use run::measure::{Unit, Waker};
use run::model::{Scenario, WakeSource};
use serde::Serialize;

use super::object::object;
use super::report_data::Report;
use crate::analysis::figure::{Figure, FigureKey, Origin, figures};
use crate::log::{LoggedRun, reason_word};

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

/// Returns a line; its fields are the columns. An empty field is a figure that is not there.
fn line(run: &LoggedRun, scenario: &Scenario, figure: &Figure<'_>) -> impl Serialize {
    let cpu = run.run.cpu(figure.cpu);
    let summary = figure.summary;
    let is_time = figure.key.unit() == Unit::Ticks;
    let shown = figure.shown.filter(|_| is_time);
    let ns = |ticks: Option<u64>| ticks.filter(|_| is_time).and_then(|it| run.ns(it));
    let conditions = scenario.conditions.as_ref();
    let power_state = conditions.and_then(|it| it.power_state);
    let (attempts, lost) = match figure.origin {
        Origin::Row(row) => (row.attempts.as_ref(), None),
        Origin::Point(point) => (None, Some(point.lost)),
    };
    let (waker, helper) = woken(scenario, figure.origin);
    let (point, of_point) = match figure.key {
        FigureKey::Point(point) => (Some(point), summary),
        FigureKey::Row { .. } => (None, None),
    };
    // A step that was left out has no figure.
    let [filled, filled_point] = [summary, of_point].map(|it| it.filter(|it| it.n > 0));
    let rejected = attempts.map(|it| it.rejected_total().into());
    object! {
        input: &run.source.input,
        run: run.source.place,
        model: run.board(),
        firmware: run.firmware_version(),
        scenario: scenario.id.tag(),
        method: scenario.method.word(),
        status: reason_word(&scenario.status),
        power_state: power_state.map(|it| format!("{it:#x}")),
        mpidr: cpu.mpidr.map(|it| format!("{it:#x}")),
        cluster: cpu.cluster,
        core: cpu.core,
        thread: cpu.thread,
        metric: figure.key.word(),
        shown_ticks: shown,
        shown_ns: ns(shown),
        // A record's figure.
        verified: u8::from(!figure.is_doubtful && !run.integrity.tables),
        n: summary.map(|it| it.n),
        min_ns: ns(filled.map(|it| it.min)),
        median_ns: ns(filled.map(|it| it.median)),
        p99_ns: ns(filled.and_then(|it| it.p99)),
        max_ns: ns(filled.map(|it| it.max)),
        mad_ns: ns(filled.map(|it| it.mad)),
        valid: attempts.map(|it| it.valid).or(of_point.map(|it| it.n)),
        rejected: rejected.or(lost),
        hz: run.run.facts.as_ref().map(|it| it.frequency),
        // From here on only points have fields; those from `min` on are in `unit`.
        how: point.map(|it| it.how.word()),
        variant: point.map(|it| it.variant.word()),
        x: point.and_then(|it| it.x),
        unit: point.map(|_| if is_time { "ticks" } else { figure.key.unit_name(run.clock()) }),
        per: point.map(|it| it.per),
        lost: lost,
        min: filled_point.map(|it| it.min),
        median: filled_point.map(|it| it.median),
        p99: filled_point.and_then(|it| it.p99),
        max: filled_point.map(|it| it.max),
        mad: filled_point.map(|it| it.mad),
        waker: waker.map(|it| it.word()),
        helper: helper.and_then(|it| run.run.cpu(it).mpidr).map(|it| format!("{it:#x}")),
    }
}

/// Returns the interrupt that woke the CPU, and the CPU that stayed awake.
fn woken(scenario: &Scenario, origin: Origin<'_>) -> (Option<WakeSource>, Option<u16>) {
    let (waker, helper) = match origin {
        Origin::Row(row) => {
            let conditions = scenario.conditions.as_ref();
            (conditions.map(|it| it.wake_source), row.helper)
        }
        Origin::Point(point) => {
            let waker = match point.waker {
                Waker::OwnTimers | Waker::TimerTrial => WakeSource::OwnTimers,
                Waker::Frame | Waker::FrameTrial(_) => WakeSource::Frame,
                Waker::Helper(_) => WakeSource::Helper,
            };
            let helper = point.waker.helper();
            (Some(waker), helper.and_then(|it| u16::try_from(it).ok()))
        }
    };
    (waker, helper.or(scenario.helper))
}
