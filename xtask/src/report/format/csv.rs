//! `csv`: one line a figure, with a header line.

use std::io::Write;

use anyhow::Result;
use csv::WriterBuilder;

use psci_bench::point::Unit;

use super::super::model::{Measured, Report, Row, Run, Term, Test};
use super::{Exporter, Options};

/// The exporter.
pub(super) struct Csv;

/// The columns. Durations are given twice, in ticks and in nanoseconds; an
/// empty field is a figure that there is not.
const COLUMNS: [&str; 36] = [
    "input",
    "run",
    "model",
    "firmware",
    "scenario",
    "method",
    "status",
    "power_state",
    "mpidr",
    "cluster",
    "core",
    "thread",
    "metric",
    "shown_ticks",
    "shown_ns",
    "verified",
    "n",
    "min_ns",
    "median_ns",
    "p99_ns",
    "max_ns",
    "mad_ns",
    "valid",
    "rejected",
    "hz",
    // Of points alone, in what they count, which is their unit.
    "how",
    "variant",
    "x",
    "unit",
    "per",
    "lost",
    "min",
    "median",
    "p99",
    "max",
    "mad",
];

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "one line a figure, for spreadsheets and data frames"
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        let mut out = WriterBuilder::new().from_writer(out);
        out.write_record(COLUMNS)?;
        for run in &report.runs {
            for test in &run.tests {
                for row in &test.rows {
                    for metric in metrics(row) {
                        out.write_record(fields(run, test, row, metric))?;
                    }
                }
                for point in &test.points {
                    out.write_record(of_point(run, test, point))?;
                }
            }
        }
        out.flush()?;
        Ok(())
    }
}

type Metric = Term<psci_bench::sample::Metric>;

/// What a row has: first what the table shows, then what there are only
/// statistics of.
fn metrics(row: &Row) -> Vec<&Metric> {
    let mut all: Vec<&Metric> = row.figures.iter().map(|figure| &figure.0).collect();
    for (metric, _) in &row.summaries {
        if !all.contains(&metric) {
            all.push(metric);
        }
    }
    all
}

fn fields(run: &Run, test: &Test, row: &Row, metric: &Metric) -> Vec<String> {
    let shown = row.figure(metric);
    let summary = row.summary(metric);
    let ns = |ticks: Option<u64>| number(ticks.and_then(|ticks| run.ns(ticks)));
    let mut all = place(run, test, row.cpu);
    all.extend([
        metric.word().to_owned(),
        number(shown),
        ns(shown),
        u8::from(row.verified).to_string(),
        number(summary.map(|it| it.n)),
        ns(summary.map(|it| it.min)),
        ns(summary.map(|it| it.median)),
        ns(summary.and_then(|it| it.p99)),
        ns(summary.map(|it| it.max)),
        ns(summary.map(|it| it.mad)),
        number(row.valid),
        number(row.rejected),
        number(run.facts.hz),
    ]);
    all.resize(COLUMNS.len(), String::new());
    all
}

/// A point: the figures of a sample, which is one of `per` operations.
fn of_point(run: &Run, test: &Test, point: &Measured) -> Vec<String> {
    let summary = &point.summary;
    let is_time = point.unit() == Unit::Ticks;
    let ns = |figure: Option<u64>| number(figure.filter(|_| is_time).and_then(|it| run.ns(it)));
    let mut all = place(run, test, point.cpu);
    all.extend([
        point.metric.word().to_owned(),
        number(Some(summary.median).filter(|_| is_time)),
        ns(Some(summary.median)),
        "1".to_owned(),
        summary.n.to_string(),
        ns(Some(summary.min)),
        ns(Some(summary.median)),
        ns(summary.p99),
        ns(Some(summary.max)),
        ns(Some(summary.mad)),
        summary.n.to_string(),
        point.lost.to_string(),
        number(run.facts.hz),
        point.how.word().to_owned(),
        point.variant.clone(),
        number(point.x),
        if is_time {
            "ticks"
        } else {
            point.unit_name(run)
        }
        .to_owned(),
        point.per.to_string(),
        point.lost.to_string(),
        summary.min.to_string(),
        summary.median.to_string(),
        number(summary.p99),
        summary.max.to_string(),
        summary.mad.to_string(),
    ]);
    all
}

/// The columns that say what a figure is of.
fn place(run: &Run, test: &Test, cpu: usize) -> Vec<String> {
    let cpu = run.cpus.get(cpu).cloned().unwrap_or_default();
    let hex = |value: Option<u64>| value.map_or(String::new(), |value| format!("{value:#x}"));
    vec![
        run.source.input.clone(),
        run.source.place.to_string(),
        run.model.clone().unwrap_or_default(),
        run.firmware_version().unwrap_or_default().to_owned(),
        test.scenario.word().to_owned(),
        test.method.word().to_owned(),
        test.status.word().to_owned(),
        hex(test.power_state.map(u64::from)),
        hex(cpu.mpidr),
        cpu.cluster.to_string(),
        cpu.core.to_string(),
        cpu.thread.to_string(),
    ]
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
