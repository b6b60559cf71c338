//! `gha-benchmark`: what github-action-benchmark takes as
//! `customSmallerIsBetter`: a list of objects with `name`, `unit`, `value`,
//! and for people `range` and `extra`.
//!
//! Medians alone: a name is a line in a chart over commits, and what moves
//! from run to run for other reasons than a commit would raise alarms. In
//! sequence, each CPU has its line. In a parallel scenario a CPU's figure
//! depends on its place in the firmware's lock queue, which is another one in
//! each run: there the medians are sorted, and a line is a place among them.

use std::io::Write;

use anyhow::{Result, bail};
use psci_bench::measure::{Metric, Summary};
use serde::Serialize;

use super::exporter::{Exporter, Options, Report};
use crate::report::model::{Measured, Row, Run, Term, Test, heading, measure_heading};

/// The exporter.
pub(super) struct GhaBenchmark;

/// One figure, by the action's keys.
#[derive(Debug, PartialEq, Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: serde_json::Value,
    range: String,
    extra: String,
}

/// One CPU's.
struct Found<'r> {
    row: &'r Row,
    /// The median; what the table shows where there are no statistics.
    value: u64,
    summary: Option<&'r Summary>,
}

impl Exporter for GhaBenchmark {
    fn name(&self) -> &'static str {
        "gha-benchmark"
    }

    fn about(&self) -> &'static str {
        "medians for github-action-benchmark, as customSmallerIsBetter"
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        let all: Vec<Entry> = report.runs.iter().flat_map(entries).collect();
        if all.is_empty() {
            bail!("there is no figure for gha-benchmark, which fails on an empty list");
        }
        let mut names: Vec<&str> = all.iter().map(|entry| entry.name.as_str()).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("{twice:?} is there twice: choose a run by --run N");
        }
        serde_json::to_writer_pretty(&mut *out, &all)?;
        writeln!(out)?;
        Ok(())
    }
}

fn entries(run: &Run) -> Vec<Entry> {
    let mut all = Vec::new();
    for test in &run.tests {
        for metric in test.columns() {
            let found = |row| found(row, &metric);
            let mut rows: Vec<Found<'_>> = test.rows.iter().filter_map(found).collect();
            if test.is_parallel() {
                rows.sort_by_key(|it| it.value);
            }
            let count = rows.len();
            for (place, found) in rows.iter().enumerate() {
                let which = if test.is_parallel() {
                    format!("place {} of {count}", place + 1)
                } else {
                    format!("CPU {}", run.label(found.row.cpu))
                };
                all.push(entry(run, test, &metric, found, &which));
            }
        }
        all.extend(points(run, test));
    }
    all
}

/// The medians of points: each CPU's, but sorted where CPUs wait for each
/// other.
fn points(run: &Run, test: &Test) -> Vec<Entry> {
    let mut kinds: Vec<&Measured> = Vec::new();
    for point in &test.points {
        if !kinds.iter().any(|it| it.is_of_kind(point)) {
            kinds.push(point);
        }
    }
    let board = run.model.as_deref().unwrap_or("unknown board");
    let mut all = Vec::new();
    for kind in kinds {
        let own = test.points.iter().filter(|it| it.is_of_kind(kind));
        let mut own: Vec<&Measured> = own.collect();
        if test.is_queue_of_points() {
            own.sort_by_key(|it| it.summary.median);
        }
        let count = own.len();
        for (place, point) in own.iter().enumerate() {
            let which = match test.is_queue_of_points() {
                true => format!("place {} of {count}", place + 1),
                false => format!("CPU {}", run.label(point.cpu)),
            };
            let (each, summary) = (
                |figure| thousandths(point.each(run, figure)),
                &point.summary,
            );
            let mut extra = vec![
                format!("CPU {}", run.label(point.cpu)),
                format!("n: {}", summary.n),
                format!("min: {}", each(summary.min)),
                format!("max: {}", each(summary.max)),
            ];
            let version = run.firmware_version();
            extra.extend(version.map(|it| format!("firmware: {it}")));
            all.push(Entry {
                name: format!(
                    "{board}: {} ({}), {}, {which}",
                    test.scenario.word(),
                    point.key(),
                    measure_heading(&point.metric)
                ),
                unit: match point.per {
                    1 => point.unit_name(run).to_owned(),
                    _ => format!("{}/op", point.unit_name(run)),
                },
                value: each(summary.median),
                range: format!("± {}", each(summary.mad)),
                extra: extra.join("\n"),
            });
        }
    }
    all
}

/// With three decimals at most; a whole number without.
fn thousandths(value: f64) -> serde_json::Value {
    match (value * 1000.0).round() {
        whole if whole % 1000.0 == 0.0 => ((whole / 1000.0) as u64).into(),
        rest => (rest / 1000.0).into(),
    }
}

fn found<'r>(row: &'r Row, metric: &Term<Metric>) -> Option<Found<'r>> {
    let summary = row.summary(metric);
    let value = match summary {
        Some(summary) => summary.median,
        None => row.figure(metric)?,
    };
    Some(Found {
        row,
        value,
        summary,
    })
}

fn entry(run: &Run, test: &Test, metric: &Term<Metric>, found: &Found<'_>, which: &str) -> Entry {
    let ns = |ticks| run.ns(ticks).unwrap_or(ticks);
    let board = run.model.as_deref().unwrap_or("unknown board");
    let mut extra = vec![format!("CPU {}", run.label(found.row.cpu))];
    let mut range = String::new();
    if let Some(summary) = found.summary {
        range = format!("± {}", ns(summary.mad));
        extra.push(format!("n: {}", summary.n));
        extra.push(format!("min: {}", ns(summary.min)));
        extra.push(format!("max: {}", ns(summary.max)));
    }
    if !found.row.verified {
        extra.push("not verified: of a line without a checksum".to_owned());
    }
    if let Some(version) = run.firmware_version() {
        extra.push(format!("firmware: {version} (not verified)"));
    }
    Entry {
        name: format!(
            "{board}: {} ({}), {}, {which}",
            test.scenario.word(),
            test.method,
            heading(metric)
        ),
        unit: if run.clock().is_known() {
            "ns"
        } else {
            "ticks"
        }
        .to_owned(),
        value: ns(found.value).into(),
        range,
        extra: extra.join("\n"),
    }
}
