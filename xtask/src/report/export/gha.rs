//! `gha-benchmark`: the list that github-action-benchmark takes as
//! `customSmallerIsBetter`.
//!
//! It has medians only: a name is a line in a chart over commits, and figures that
//! move from run to run would raise alarms. In sequence, each CPU has its line. In a
//! parallel scenario a CPU's figure depends on its place in the firmware's lock
//! queue, which differs from run to run: there the medians are sorted, and a line is
//! a place among them.

use std::io::Write;

use anyhow::{Result, bail};
use psci_bench::model::Scenario;
use serde::Serialize;

use super::exporter::{Exporter, Options, Report};
use crate::report::analysis::figure::{Figure, FigureKey, figures, is_sorted_by_size};
use crate::report::log::LoggedRun;

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

impl Exporter for GhaBenchmark {
    fn name(&self) -> &'static str {
        "gha-benchmark"
    }

    fn about(&self) -> &'static str {
        "medians for github-action-benchmark, as customSmallerIsBetter"
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        let runs = report.runs.iter();
        let scenarios = runs.flat_map(|run| run.run.scenarios.iter().map(move |it| (run, it)));
        let all: Vec<Entry> = scenarios.flat_map(|it| entries(it.0, it.1)).collect();
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

/// Returns the median; the shown figure where there are no statistics.
fn median(figure: &Figure<'_>) -> Option<u64> {
    figure.summary.map(|it| it.median).or(figure.shown)
}

fn entries(run: &LoggedRun, scenario: &Scenario) -> Vec<Entry> {
    let columns = scenario.columns();
    let is_shown = |key: FigureKey| key.metric().is_none_or(|it| columns.contains(&it));
    let mut all = figures(run, scenario);
    all.retain(|it| is_shown(it.key) && median(it).is_some());
    let mut keys: Vec<FigureKey> = Vec::new();
    for key in all.iter().map(|it| it.key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let is_sorted = is_sorted_by_size(scenario.id);
    let mut entries = Vec::new();
    for key in keys {
        let own = all.iter().filter(|it| it.key == key);
        let mut own: Vec<&Figure<'_>> = own.collect();
        if is_sorted {
            own.sort_by_key(|it| median(it));
        }
        for (place, figure) in own.iter().enumerate() {
            let which = match is_sorted {
                true => format!("place {} of {}", place + 1, own.len()),
                false => format!("CPU {}", run.run.label(figure.cpu)),
            };
            entries.push(entry(run, scenario, figure, &which));
        }
    }
    entries
}

fn entry(run: &LoggedRun, scenario: &Scenario, figure: &Figure<'_>, which: &str) -> Entry {
    let (key, clock) = (figure.key, run.clock());
    let each = |figure| thousandths(key.per_operation(clock, figure));
    let mut extra = vec![format!("CPU {}", run.run.label(figure.cpu))];
    let mut range = String::new();
    if let Some(summary) = figure.summary {
        range = format!("± {}", each(summary.mad));
        extra.push(format!("n: {}", summary.n));
        extra.push(format!("min: {}", each(summary.min)));
        extra.push(format!("max: {}", each(summary.max)));
    }
    if figure.is_doubtful {
        extra.push("not verified: of a line without a checksum".to_owned());
    }
    if let Some(version) = run.firmware_version() {
        extra.push(format!("firmware: {version} (not verified)"));
    }
    let board = run.board().unwrap_or("unknown board");
    let question = match key {
        FigureKey::Row { .. } => scenario.method.word().to_owned(),
        FigureKey::Point(_) => key.name(),
    };
    let helper = scenario.helper.map(|cpu| run.run.label(cpu));
    let helper = helper.map_or_else(String::new, |it| format!(", woken by CPU {it}"));
    let unit = key.unit_name(clock);
    Entry {
        name: format!(
            "{board}: {} ({question}{helper}), {}, {which}",
            scenario.id,
            key.heading()
        ),
        unit: match key.per() {
            1 => unit.to_owned(),
            _ => format!("{unit}/op"),
        },
        value: each(median(figure).unwrap_or_default()),
        range,
        extra: extra.join("\n"),
    }
}

/// Returns a number with three decimals at most; a whole one without.
fn thousandths(value: f64) -> serde_json::Value {
    match (value * 1000.0).round() {
        whole if whole % 1000.0 == 0.0 => ((whole / 1000.0) as u64).into(),
        rest => (rest / 1000.0).into(),
    }
}
