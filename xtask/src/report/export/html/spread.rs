//! The spread of samples: for each metric a lane a CPU, from the least to the
//! greatest, with median and p99, and with the number of samples at each place if the
//! run sent them all.

use std::fmt::Write;

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::{Row, Scenario, heading};

use super::chart::{AXIS, Anchor, Drawing, LANE, LEFT, RIGHT, Scale, WIDTH, units};
use crate::report::log::LoggedRun;

/// The number of places of the axis in which samples are counted.
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
    let value = |ticks| units(run, ticks);
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
    for (place, (row, summary)) in rows.iter().enumerate() {
        let y = top + LANE * place as f64;
        if let Some(counts) = counts(row, metric, |ticks| scale.at(value(ticks))) {
            drawing.path("samples", &histogram(&counts, y + LANE - 2.0));
        }
        draw_lane(&mut drawing, run, &scale, (row.cpu, summary), y);
    }
    let p99 = rows.iter().any(|it| it.1.p99.is_some());
    let counted = rows.iter().any(|it| !it.0.samples.is_empty());
    let mut legend = vec![("range", "least to greatest"), ("median", "median")];
    if p99 {
        legend.push(("p99", "p99"));
    }
    if counted {
        legend.push(("samples", "how many samples"));
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

fn draw_lane(
    drawing: &mut Drawing,
    run: &LoggedRun,
    scale: &Scale,
    (cpu, summary): (u16, &Summary),
    y: f64,
) {
    let middle = y + LANE / 2.0;
    let label = run.run.label(cpu).to_string();
    drawing.text(Anchor::End, (LEFT - 8.0, y + 15.0), &label);
    let at = |ticks| scale.at(units(run, ticks));
    let (min, max) = (at(summary.min), at(summary.max));
    drawing.line("range", (min, middle), (max, middle));
    for end in [min, max] {
        drawing.line("range", (end, middle - 4.0), (end, middle + 4.0));
    }
    if let Some(p99) = summary.p99.map(at) {
        drawing.line("p99", (p99, middle - 6.0), (p99, middle + 6.0));
    }
    let said = said(run, &label, summary);
    let corner = (at(summary.median) - 1.5, y + 3.0);
    drawing.rect("median", corner, (3.0, LANE - 6.0), &said);
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

/// Returns the number of samples at each of [`BINS`] places; None if the run did not
/// send them.
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
