//! Draws the spread of samples, with one drawing per figure. Each lane extends from the smallest to
//! the largest sample and shows the median and the p99. The TFTF suite has one lane per CPU. Steps
//! have one lane per variant, covering all CPUs, with bars if the samples were counted in bins. The
//! bar heights are logarithmic, so even a single outlier on the right is visible.

use std::fmt::Write;

use hardware::text::plural::many;
use suite::measure::{Histogram, Metric, lower_median};
use suite::model::{CellSeries, FigureScale};

use super::chart::{Chart, Drawing, EDGE, LANE, LEFT, Scale, legend};
use crate::analysis::figure::FigureKey;
use crate::export::document::Charts;
use crate::export::step_tables::by_metric;
use crate::log::grouped::grouped;

/// The height of a variant's lane, which includes a line for its name.
const TALL: f64 = 76.0;

struct Lane {
    name: String,
    said: String,
    ends: [f64; 2],
    median: f64,
    p99: Option<f64>,
    /// The start and end of each bin, and the height of its bar as a fraction of the lane.
    bars: Vec<[f64; 3]>,
}

struct Texts {
    id: String,
    title: String,
    said: String,
    /// The axis label, including the unit.
    axis: [&'static str; 2],
}

pub(super) fn figures(charts: &Charts<'_>) -> impl Iterator<Item = Chart> {
    let columns = charts.scenario.columns().into_iter();
    let all = charts.scenario.step_series();
    let counted = by_metric(all.filter(|it| it.series.histogram.is_some()));
    let counted = (1..).zip(counted);
    let of_steps = counted.filter_map(|(number, all)| of_steps(charts, number, &all));
    columns
        .filter_map(|metric| of_suite(charts, metric))
        .chain(of_steps)
}

fn of_suite(charts: &Charts<'_>, metric: Metric) -> Option<Chart> {
    let (run, name, unit) = (charts.run, metric.heading(), charts.run.unit());
    let cells = charts.scenario.suite_cells().iter();
    let lanes = cells.filter_map(|cell| {
        let summary = cell.summary(metric)?;
        let label = run.run.label(cell.cpu).to_string();
        let [min, max, median] = [summary.min, summary.max, summary.median];
        let [least, most, middle] = [min, max, median].map(|it| run.duration(it));
        let p99 = summary.p99;
        let p99 = p99.map_or_else(String::new, |it| format!(", p99 {}", run.duration(it)));
        let n = many(summary.n as usize, "sample");
        Some(Lane {
            said: format!("CPU {label}: {n}, {least} to {most}, median {middle}{p99} {unit}"),
            name: label,
            ends: [min, max].map(|it| charts.value(it)),
            median: charts.value(median),
            p99: summary.p99.map(|it| charts.value(it)),
            bars: Vec::new(),
        })
    });
    let lanes: Vec<Lane> = lanes.collect();
    let word = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let cpus = many(lanes.len(), "CPU");
    let texts = Texts {
        id: format!("{}-spread-{word}", charts.id),
        title: format!("Spread of {name}"),
        said: format!("The {name} samples from {cpus}, in {unit}."),
        axis: [name, unit],
    };
    draw(texts, LANE, &lanes)
}

fn of_steps(charts: &Charts<'_>, number: usize, all: &[CellSeries<'_>]) -> Option<Chart> {
    let first = *all.first()?;
    let unit = FigureScale::of_series(charts.run.clock(), first);
    let bins: Vec<_> = Histogram::default().bins().collect();
    let variants = grouped(all.iter().map(|it| (it.cell.step.variant, *it)));
    let counts = variants.iter().map(|it| counts(&it.1, bins.len()));
    let counts: Vec<Vec<u64>> = counts.collect();
    let highest = (counts.iter().flatten().copied().max()? as f64).ln_1p();
    let value = |figure| unit.value(figure);
    let lanes = variants.iter().zip(counts).map(|((variant, own), counts)| {
        let filled = bins.iter().zip(counts).filter(|it| it.1 > 0);
        let bars = filled.map(|(bin, count)| {
            let end = bin.from.saturating_add(bin.width);
            [
                value(bin.from),
                value(end),
                (count as f64).ln_1p() / highest,
            ]
        });
        let bars = bars.collect();
        let summaries = || own.iter().map(|it| &it.series.summary);
        let min = summaries().map(|it| it.min).min().unwrap_or(0);
        let max = summaries().map(|it| it.max).max().unwrap_or(0);
        let mut medians: Vec<u64> = summaries().map(|it| it.median).collect();
        let median = value(lower_median(&mut medians));
        let p99 = summaries().filter_map(|it| it.p99).max().map(value);
        let samples = summaries().map(|it| it.n as usize).sum();
        let (samples, cpus) = (many(samples, "sample"), many(own.len(), "CPU"));
        let (word, greatest) = (variant.word(), format!("{:.2} {}", value(max), unit.name()));
        let is_histogram_bound = FigureKey::of(first).is_histogram_bound();
        let at_least = if is_histogram_bound { ">= " } else { "" };
        let median_text = format!("median {at_least}{median:.2}, maximum {greatest}");
        let p99_text = p99.map_or(String::new(), |it| format!(", largest p99 {it:.2}"));
        Lane {
            name: format!("{word}: max {greatest}"),
            said: format!("{word}: {samples} from {cpus}, {median_text}{p99_text}"),
            ends: [min, max].map(value),
            median,
            p99,
            bars,
        }
    });
    let lanes: Vec<Lane> = lanes.collect();
    let (name, count) = (first.series.metric.heading(), many(lanes.len(), "variant"));
    let texts = Texts {
        id: format!("{}-histogram{number}", charts.id),
        title: format!("Spread of {name}, {}", first.cell.step.cpus.text()),
        said: format!("The {name} for all CPUs, in {}: {count}.", unit.name()),
        axis: [name, unit.name()],
    };
    draw(texts, TALL, &lanes)
}

/// Returns the number of samples in each bin, across all series.
fn counts(all_series: &[CellSeries<'_>], classes: usize) -> Vec<u64> {
    let mut all = vec![0u64; classes];
    for spread in all_series
        .iter()
        .filter_map(|it| it.series.histogram.as_ref())
    {
        let own = all.iter_mut().skip(spread.first.into());
        for (sum, count) in own.zip(&spread.counts) {
            *sum = sum.saturating_add(u64::from(*count));
        }
    }
    all
}

fn draw(texts: Texts, height: f64, lanes: &[Lane]) -> Option<Chart> {
    let least = lanes.iter().map(|it| it.ends[0]).reduce(f64::min)?;
    let most = lanes.iter().map(|it| it.ends[1]).reduce(f64::max)?;
    let x = Scale::fitting((least, most), (LEFT, EDGE));
    let (top, [name, unit]) = (6.0, texts.axis);
    let (mut drawing, bottom) = Drawing::of_lanes(top, height, lanes.len());
    let axis = format!("{name} ({unit}{})", x.kind());
    drawing.horizontal(&x, (top, bottom), &axis, x.ticks(78.0));
    for (place, lane) in lanes.iter().enumerate() {
        draw_lane(&mut drawing, &x, lane, top + height * place as f64, height);
    }
    let bars = "number of samples from all CPUs (logarithmic height)";
    let legend = legend([
        ("range", "smallest to largest", true),
        ("median", "median", true),
        ("p99", "p99", lanes.iter().any(|it| it.p99.is_some())),
        ("samples", bars, lanes.iter().any(|it| !it.bars.is_empty())),
    ]);
    Some(drawing.figure(texts.id, [texts.title, texts.said], legend))
}

fn draw_lane(drawing: &mut Drawing, x: &Scale, lane: &Lane, y: f64, height: f64) {
    let base = y + height - 4.0;
    let is_tall = height > LANE;
    let top = if is_tall { y + 20.0 } else { y + 3.0 };
    let mut bars = String::new();
    for [from, to, share] in &lane.bars {
        let (at, high) = (x.at(*from), ((base - top) * share).max(1.0));
        // The last bin has no upper bound; it starts at or below its largest sample.
        let width = (x.at(*to) - at).max(0.6);
        // Writing to a String cannot fail.
        let _ = write!(bars, "M{at:.1} {base:.1}v-{high:.1}h{width:.1}v{high:.1}z");
    }
    if !bars.is_empty() {
        drawing.path("samples", &bars);
    }
    let ends = lane.ends.map(|it| x.at(it));
    drawing.line("range", (ends[0], base), (ends[1], base));
    for x in ends {
        drawing.line("range", (x, base - 4.0), (x, base + 3.0));
    }
    if let Some(p99) = lane.p99.map(|it| x.at(it)) {
        drawing.line("p99", (p99, top), (p99, base));
    }
    let size = (3.0, base - top + 1.0);
    drawing.rect("median", (x.at(lane.median) - 1.5, top), size, &lane.said);
    let (anchor, at) = match is_tall {
        true => ("start", LEFT),
        false => ("end", LEFT - 8.0),
    };
    drawing.text(anchor, (at, y + 15.0), &lane.name);
}
