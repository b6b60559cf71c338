//! `csv`: one line a figure, with a header line.

use std::io::Write;

use anyhow::Result;
use csv::WriterBuilder;

use psci_bench::model::Unit;

use super::exporter::{Exporter, Options, Report};
use crate::report::model::{Measured, Row, Run, Term, Test};

/// The exporter.
pub(super) struct Csv;

/// The columns. Durations are given twice, in ticks and in nanoseconds; an
/// empty field is a figure that there is not.
const COLUMNS: [&str; 38] = [
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
    // Of all figures.
    "waker",
    "helper",
];

/// How many of them, at the end, say what woke the CPU.
const OF_WAKE_UPS: usize = 2;

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

type Metric = Term<psci_bench::measure::Metric>;

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
    all.resize(COLUMNS.len() - OF_WAKE_UPS, String::new());
    // A line without a checksum does not say what woke the CPU.
    let waker = test.asked.map(|_| test.wake_source.word());
    all.extend(woken(run, waker, row.helper.or(test.helper)));
    all
}

/// The wake-up source, and the MPIDR of the CPU that stayed awake.
fn woken(run: &Run, waker: Option<&str>, helper: Option<usize>) -> [String; OF_WAKE_UPS] {
    let helper = helper.and_then(|cpu| run.cpus.get(cpu)?.mpidr);
    [waker.unwrap_or_default().to_owned(), hex(helper)]
}

fn hex(value: Option<u64>) -> String {
    value.map_or(String::new(), |value| format!("{value:#x}"))
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
    let waker = test.says_wake_source.then(|| test.wake_source.word());
    all.extend(woken(run, waker, test.helper));
    all
}

/// The columns that say what a figure is of.
fn place(run: &Run, test: &Test, cpu: usize) -> Vec<String> {
    let cpu = run.cpus.get(cpu).cloned().unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::log::read_bytes;

    /// Two CPUs on QEMU whose timers stop.
    const HELPER: &[u8] = include_bytes!("../../../tests/data/report/qemu-helper.log");

    #[test]
    fn each_line_has_its_waker_and_helper_at_the_end() {
        let report = read_bytes("a.log", HELPER).expect("a run").into();
        let mut text = Vec::new();
        Csv.write(&report, &Options::default(), &mut text)
            .expect("written");
        let text = String::from_utf8(text).expect("text");
        for (scenario, mpidr, end) in [
            ("test_rt_instr_susp_deep_parallel", "0x0", "helper,0x1"),
            ("test_rt_instr_susp_deep_parallel", "0x1", "helper,0x0"),
            ("test_rt_instr_susp_deep_serial", "0x0", "helper,0x1"),
            ("test_rt_instr_psci_version_parallel", "0x0", "timer,"),
        ] {
            let key = |line: &&str| {
                let fields: Vec<&str> = line.split(',').collect();
                fields.len() == COLUMNS.len() && (fields[4], fields[8]) == (scenario, mpidr)
            };
            let mut own = text.lines().filter(key).peekable();
            assert!(own.peek().is_some(), "{scenario}");
            own.for_each(|line| assert!(line.ends_with(&format!(",{end}")), "{line}"));
        }
    }
}
