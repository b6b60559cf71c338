//! The spread of samples: for each metric a lane a CPU, from the least to the
//! greatest, with median and p99, and with the number of samples at each place if the
//! run sent them all.

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::{Row, Scenario, heading};

use super::chart::{Drawing, EDGE, Figure, LANE, LEFT, Scale, add_bar, units};
use crate::report::log::LoggedRun;

/// The number of places of the axis in which samples are counted.
const BINS: usize = 160;

pub(super) fn figures(id: &str, run: &LoggedRun, scenario: &Scenario) -> Vec<Figure> {
    let columns = scenario.columns().into_iter();
    columns
        .filter_map(|metric| figure(id, run, scenario, metric))
        .collect()
}

fn figure(id: &str, run: &LoggedRun, scenario: &Scenario, metric: Metric) -> Option<Figure> {
    let rows = scenario.rows.iter();
    let rows = rows.filter_map(|row| Some((row, row.summary(metric)?)));
    let rows: Vec<(&Row, &Summary)> = rows.collect();
    let value = |ticks| units(run, ticks);
    let least = rows.iter().map(|it| it.1.min).min()?;
    let most = rows.iter().map(|it| it.1.max).max()?;
    let scale = Scale::fitting((value(least), value(most)), (LEFT, EDGE));
    let at = |ticks| scale.at(value(ticks));
    let top = 6.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, LANE, rows.len());
    let (name, unit) = (heading(metric), run.unit());
    let title = format!("{name} ({unit}{})", scale.kind());
    drawing.horizontal(&scale, (top, bottom), &title);
    for (place, (row, summary)) in rows.iter().enumerate() {
        let y = top + LANE * place as f64;
        if let Some(path) = histogram(row, metric, &at, y + LANE - 2.0) {
            drawing.path("samples", &path);
        }
        draw_lane(&mut drawing, run, (row.cpu, summary), &at, y);
    }
    let mut legend = vec![("range", "least to greatest"), ("median", "median")];
    if rows.iter().any(|it| it.1.p99.is_some()) {
        legend.push(("p99", "p99"));
    }
    if rows.iter().any(|it| !it.0.samples.is_empty()) {
        legend.push(("samples", "how many samples"));
    }
    let legend = legend.into_iter().map(|it| (it.0, it.1.to_owned()));
    let said = format!(
        "For each of {} CPUs, from the least to the greatest {name} of its samples, in {unit}.",
        rows.len()
    );
    let word = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let (id, title) = (format!("{id}-spread-{word}"), format!("Spread of {name}"));
    Some(drawing.figure(id, title, said, legend.collect()))
}

fn draw_lane(
    drawing: &mut Drawing,
    run: &LoggedRun,
    (cpu, summary): (u16, &Summary),
    at: &impl Fn(u64) -> f64,
    y: f64,
) {
    let middle = y + LANE / 2.0;
    let label = run.run.label(cpu).to_string();
    drawing.text("end", (LEFT - 8.0, y + 15.0), &label);
    let (min, max) = (at(summary.min), at(summary.max));
    drawing.line("range", (min, middle), (max, middle));
    for end in [min, max] {
        drawing.line("range", (end, middle - 4.0), (end, middle + 4.0));
    }
    let shown = |ticks| run.duration(ticks);
    let mut said = format!(
        "CPU {label}: {} samples, {} to {}, median {}",
        summary.n,
        shown(summary.min),
        shown(summary.max),
        shown(summary.median)
    );
    if let Some(p99) = summary.p99 {
        drawing.line("p99", (at(p99), middle - 6.0), (at(p99), middle + 6.0));
        said += &format!(", p99 {}", shown(p99));
    }
    said += &format!(" {}", run.unit());
    let corner = (at(summary.median) - 1.5, y + 3.0);
    drawing.rect("median", corner, (3.0, LANE - 6.0), &said);
}

/// Returns bars on the line `y` for the samples at each of [`BINS`] places, the highest as
/// high as a lane; None if the run did not send them.
fn histogram(row: &Row, metric: Metric, at: &impl Fn(u64) -> f64, y: f64) -> Option<String> {
    let mut counts = [0u32; BINS];
    let samples = row.samples.iter();
    for ticks in samples.filter_map(|it| it.instants.figure(metric)) {
        let share = (at(ticks) - LEFT) / (EDGE - LEFT);
        let bin = ((share * BINS as f64) as usize).min(BINS - 1);
        counts[bin] = counts[bin].saturating_add(1);
    }
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    let width = (EDGE - LEFT) / BINS as f64;
    let mut path = String::new();
    for (bin, count) in counts.iter().enumerate().filter(|it| *it.1 > 0) {
        let height = (LANE - 5.0) * f64::from(*count) / f64::from(most);
        let x = LEFT + width * bin as f64;
        add_bar(&mut path, (x, y), (width, height));
    }
    Some(path)
}
