//! The spread of samples: a chart for each metric with a lane for each CPU. Bars count
//! the samples if the log has them all (`samples=all`).

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::{Row, heading};

use super::chart::{EDGE, Figure, LANE, LEFT, Scale};
use super::lanes::{self, Lane, Texts};
use crate::report::export::document::Charts;
use crate::setup::plural::many;

/// The number of bins along the axis.
const BINS: usize = 160;

pub(super) fn figures(charts: &Charts<'_>) -> impl Iterator<Item = Figure> {
    let columns = charts.scenario.columns().into_iter();
    columns.filter_map(|metric| figure(charts, metric))
}

fn figure(charts: &Charts<'_>, metric: Metric) -> Option<Figure> {
    let run = charts.run;
    let rows = charts.scenario.rows.iter();
    let rows = rows.filter_map(|row| Some((row, row.summary(metric)?)));
    let rows: Vec<(&Row, &Summary)> = rows.collect();
    let least = rows.iter().map(|it| it.1.min).min()?;
    let most = rows.iter().map(|it| it.1.max).max()?;
    let scale = Scale::fitting((charts.value(least), charts.value(most)), (LEFT, EDGE));
    let at = |ticks| scale.at(charts.value(ticks));
    let (name, unit) = (heading(metric), run.unit());
    let lanes = rows.iter().map(|(row, summary)| {
        let label = run.run.label(row.cpu).to_string();
        let [min, max, median] = [summary.min, summary.max, summary.median];
        let [least, most, middle] = [min, max, median].map(|it| run.duration(it));
        let p99 = summary.p99.map(|it| format!(", p99 {}", run.duration(it)));
        let (n, p99) = (many(summary.n as usize, "sample"), p99.unwrap_or_default());
        Lane {
            said: format!("CPU {label}: {n}, {least} to {most}, median {middle}{p99} {unit}"),
            name: label,
            bars: bars(row, metric, at),
            ends: [at(min), at(max)],
            median: at(median),
            p99: summary.p99.map(at),
        }
    });
    let (lanes, cpus) = (lanes.collect::<Vec<_>>(), many(rows.len(), "CPU"));
    let word = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let texts = Texts {
        id: format!("{}-spread-{word}", charts.id),
        title: format!("Spread of {name}"),
        said: format!("The {name} of the samples of {cpus}, in {unit}."),
        heading: format!("{name} ({unit}{})", scale.kind()),
        bars: "how many samples",
    };
    Some(lanes::figure(texts, &scale, LANE, &lanes))
}

/// Returns bars for the samples at each of [`BINS`] places, the highest as high as a lane;
/// no bars if the run sent no samples.
fn bars(row: &Row, metric: Metric, at: impl Fn(u64) -> f64) -> Vec<[f64; 3]> {
    let mut counts = [0u32; BINS];
    let samples = row.samples.iter();
    for ticks in samples.filter_map(|it| it.instants.figure(metric)) {
        let share = (at(ticks) - LEFT) / (EDGE - LEFT);
        let bin = ((share * BINS as f64) as usize).min(BINS - 1);
        counts[bin] = counts[bin].saturating_add(1);
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let width = (EDGE - LEFT) / BINS as f64;
    let filled = counts.into_iter().enumerate().filter(|it| it.1 > 0);
    let bar = |(bin, count)| {
        [
            LEFT + width * bin as f64,
            width,
            f64::from(count) / f64::from(most),
        ]
    };
    filled.map(bar).collect()
}
