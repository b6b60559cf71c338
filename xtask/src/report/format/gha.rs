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
use psci_bench::sample::Metric;
use psci_bench::stats::Summary;
use serde::Serialize;

use super::super::model::{Report, Row, Run, Term, Test, heading};
use super::{Exporter, Options};

/// The exporter.
pub(super) struct GhaBenchmark;

/// One figure, by the action's keys.
#[derive(Debug, PartialEq, Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: u64,
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
    }
    all
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
        extra.push(format!("firmware: {version}"));
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
        },
        value: ns(found.value),
        range,
        extra: extra.join("\n"),
    }
}
