//! How samples spread: for each metric a lane a CPU, from the least to the
//! greatest, with median and p99; and where the run sent all its samples, how
//! many lie where.

use std::fmt::Write;

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::{Row, Scenario, heading};

use super::chart::{AXIS, Anchor, Drawing, LANE, LEFT, Mark, RIGHT, Scale, WIDTH};
use crate::report::log::LoggedRun;

/// How many places of the axis samples are counted in.
const BINS: usize = 160;

pub(super) fn figures(id: &str, run: &LoggedRun, scenario: &Scenario) -> Vec<String> {
    let columns = scenario.columns();
    let figures = columns.iter();
    figures
        .filter_map(|metric| figure(id, run, scenario, *metric))
        .collect()
}

fn figure(id: &str, run: &LoggedRun, scenario: &Scenario, metric: Metric) -> Option<String> {
    let rows: Vec<(&Row, &Summary)> = scenario
        .rows
        .iter()
        .filter_map(|row| Some((row, row.summary(metric)?)))
        .collect();
    let value = |ticks: u64| {
        let ns = run.ns(ticks);
        ns.map_or(ticks as f64, |ns| ns as f64 / 1000.0)
    };
    let least = rows.iter().map(|it| it.1.min).min()?;
    let most = rows.iter().map(|it| it.1.max).max()?;
    let scale = Scale::fitting((value(least), value(most)), (LEFT, WIDTH - RIGHT));
    let top = 6.0;
    let bottom = top + LANE * rows.len() as f64 + 4.0;
    let mut drawing = Drawing::new(bottom + AXIS);
    let name = heading(metric);
    let log = if scale.is_log() { ", logarithmic" } else { "" };
    drawing.horizontal(
        &scale,
        (top, bottom),
        &format!("{name} ({}{log})", run.unit()),
    );
    let (mut p99, mut counted) = (false, false);
    for (place, (row, summary)) in rows.iter().enumerate() {
        let y = top + LANE * place as f64;
        let middle = y + LANE / 2.0;
        let label = run.run.label(row.cpu).to_string();
        drawing.text(Anchor::End, (LEFT - 8.0, y + 15.0), &label);
        if let Some(counts) = counts(row, metric, |ticks| scale.at(value(ticks))) {
            drawing.path("samples", &histogram(&counts, y + LANE - 2.0));
            counted = true;
        }
        let at = |ticks| scale.at(value(ticks));
        drawing.line(
            "range",
            (at(summary.min), middle),
            (at(summary.max), middle),
        );
        for end in [summary.min, summary.max] {
            drawing.line("range", (at(end), middle - 4.0), (at(end), middle + 4.0));
        }
        if let Some(rank) = summary.p99 {
            drawing.line("p99", (at(rank), middle - 6.0), (at(rank), middle + 6.0));
            p99 = true;
        }
        let said = said(run, &label, summary);
        drawing.rect(
            "median",
            (at(summary.median) - 1.5, y + 3.0),
            (3.0, LANE - 6.0),
            &said,
        );
    }
    let mut legend = vec![
        Mark {
            class: "range",
            name: "least to greatest",
        },
        Mark {
            class: "median",
            name: "median",
        },
    ];
    if p99 {
        legend.push(Mark {
            class: "p99",
            name: "p99",
        });
    }
    if counted {
        legend.push(Mark {
            class: "samples",
            name: "how many samples",
        });
    }
    let title = format!("Spread of {name}");
    let described = format!(
        "For each of {} CPUs, from the least to the greatest {name} of its samples, in {}.",
        rows.len(),
        run.unit()
    );
    let id = format!(
        "{id}-spread-{}",
        name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    );
    Some(drawing.figure(&id, &title, &described, &legend))
}

fn said(run: &LoggedRun, label: &str, summary: &Summary) -> String {
    let shown = |ticks| run.duration(ticks);
    let mut text = format!(
        "CPU {label}: {} samples, {} to {}, median {}",
        summary.n,
        shown(summary.min),
        shown(summary.max),
        shown(summary.median)
    );
    if let Some(p99) = summary.p99 {
        let _ = write!(text, ", p99 {}", shown(p99));
    }
    text.push(' ');
    text.push_str(run.unit());
    text
}

/// How many samples lie at each of [`BINS`] places; None where the run did
/// not send them.
fn counts(row: &Row, metric: Metric, at: impl Fn(u64) -> f64) -> Option<[u32; BINS]> {
    let mut counts = [0u32; BINS];
    let mut any = false;
    for sample in &row.samples {
        let Some(ticks) = sample.instants.figure(metric) else {
            continue;
        };
        let share = (at(ticks) - LEFT) / (WIDTH - RIGHT - LEFT);
        let bin = ((share * BINS as f64) as usize).min(BINS - 1);
        if let Some(count) = counts.get_mut(bin) {
            *count = count.saturating_add(1);
        }
        any = true;
    }
    any.then_some(counts)
}

/// Bars on the line `y`, the highest as high as a lane.
fn histogram(counts: &[u32; BINS], y: f64) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let width = (WIDTH - RIGHT - LEFT) / BINS as f64;
    let mut path = String::new();
    for (bin, count) in counts.iter().enumerate().filter(|it| *it.1 > 0) {
        let height = (LANE - 5.0) * f64::from(*count) / f64::from(most);
        let x = LEFT + width * bin as f64;
        // A String takes all.
        let _ = write!(path, "M{x:.1} {y:.1}v-{height:.1}h{width:.1}v{height:.1}z");
    }
    path
}
