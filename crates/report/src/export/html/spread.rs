//! Draws the spread of samples, with one drawing per figure. Each lane extends from the smallest to
//! the largest sample and shows the median and the p99. The TFTF suite has one lane per CPU. Steps
//! have one lane per variant, covering all CPUs, with bars if the samples were counted in bins. The
//! bar heights are logarithmic, so even a single outlier on the right is visible.

use std::fmt::Write;

use hardware::board::CpuIndex;
use hardware::text::plural::many;
use suite::measure::{Bin, Histogram, Metric, Summary, lower_median};
use suite::model::{CellSeries, FigureScale};

use crate::analysis::figure::FigureKey;
use crate::export::document::Charts;
use crate::export::drawing::{Chart, Drawing, EDGE, LANE, LEFT, Scale, legend};
use crate::export::step_tables::by_metric;
use crate::log::grouped::grouped;

/// The height of a variant's lane, which includes a line for its name.
const TALL: f64 = 76.0;

struct Lane {
    name: String,
    description: String,
    ends: [f64; 2],
    median: f64,
    p99: Option<f64>,
    /// The start and end of each bin, and the height of its bar as a fraction of the lane.
    bars: Vec<[f64; 3]>,
}

struct Texts {
    id: String,
    title: String,
    description: String,
    /// The axis label, including the unit.
    axis: [&'static str; 2],
}

/// Returns the drawings of the TFTF suite's figures, followed by those of the steps with bins.
pub(super) fn figures(charts: &Charts<'_>) -> Vec<Chart> {
    let mut figures = Vec::new();
    for metric in charts.scenario.columns() {
        figures.extend(suite_figure(charts, metric));
    }
    let series = charts.scenario.step_series();
    let counted = series.filter(|series| series.series.histogram.is_some());
    for (index, group) in by_metric(counted).iter().enumerate() {
        figures.extend(step_figure(charts, index + 1, group));
    }
    figures
}

/// Draws a figure of the TFTF suite, with one lane per CPU.
fn suite_figure(charts: &Charts<'_>, metric: Metric) -> Option<Chart> {
    let name = metric.heading();
    let unit = charts.logged.unit();
    let mut lanes = Vec::new();
    for cell in charts.scenario.suite_cells() {
        if let Some(summary) = cell.summary(metric) {
            lanes.push(cpu_lane(charts, cell.cpu, summary));
        }
    }
    let word = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let cpus = many(lanes.len(), "CPU");
    let texts = Texts {
        id: format!("{}-spread-{word}", charts.id),
        title: format!("Spread of {name}"),
        description: format!("The {name} samples from {cpus}, in {unit}."),
        axis: [name, unit],
    };
    draw_lanes(texts, LANE, &lanes)
}

/// Returns the lane for a CPU's samples.
fn cpu_lane(charts: &Charts<'_>, cpu: CpuIndex, summary: &Summary) -> Lane {
    let logged = charts.logged;
    let unit = logged.unit();
    let label = logged.run.label(cpu).to_string();
    let count = many(summary.n as usize, "sample");
    let least = logged.duration(summary.min);
    let most = logged.duration(summary.max);
    let median = logged.duration(summary.median);
    let p99_text = match summary.p99 {
        Some(ticks) => format!(", p99 {}", logged.duration(ticks)),
        None => String::new(),
    };
    Lane {
        description: format!(
            "CPU {label}: {count}, {least} to {most}, median {median}{p99_text} {unit}"
        ),
        name: label,
        ends: [charts.value(summary.min), charts.value(summary.max)],
        median: charts.value(summary.median),
        p99: summary.p99.map(|ticks| charts.value(ticks)),
        bars: Vec::new(),
    }
}

/// Draws a figure of the steps that have a histogram, with one lane per variant.
fn step_figure(charts: &Charts<'_>, number: usize, group: &[CellSeries<'_>]) -> Option<Chart> {
    let first = *group.first()?;
    let unit = FigureScale::of_series(charts.logged.clock(), first);
    let bins: Vec<Bin> = Histogram::default().bins().collect();
    let variants = group.iter().map(|series| series.cell.step.variant);
    let by_variant = grouped(variants.zip(group.iter().copied()));
    let mut counts_by_variant = Vec::new();
    for (_, all_cpus) in &by_variant {
        counts_by_variant.push(sample_counts(all_cpus, bins.len()));
    }
    let highest_count = *counts_by_variant.iter().flatten().max()?;
    let mut lanes = Vec::new();
    for ((variant, all_cpus), counts) in by_variant.iter().zip(&counts_by_variant) {
        let bars = bars(&bins, counts, highest_count, unit);
        lanes.push(variant_lane(variant.word(), all_cpus, unit, bars));
    }
    let name = first.series.metric.heading();
    let count = many(lanes.len(), "variant");
    let texts = Texts {
        id: format!("{}-histogram{number}", charts.id),
        title: format!("Spread of {name}, {}", first.cell.step.cpus.text()),
        description: format!("The {name} for all CPUs, in {}: {count}.", unit.name()),
        axis: [name, unit.name()],
    };
    draw_lanes(texts, TALL, &lanes)
}

/// Returns the bars of the bins that contain samples; see [`Lane::bars`]. The bar of a bin with
/// `highest_count` samples is as tall as the lane.
fn bars(bins: &[Bin], counts: &[u64], highest_count: u64, unit: FigureScale) -> Vec<[f64; 3]> {
    let highest = (highest_count as f64).ln_1p();
    let mut bars = Vec::new();
    for (bin, count) in bins.iter().zip(counts) {
        if *count > 0 {
            let end = bin.from.saturating_add(bin.width);
            let height = (*count as f64).ln_1p() / highest;
            bars.push([unit.value(bin.from), unit.value(end), height]);
        }
    }
    bars
}

/// Returns the lane for a variant, which covers the series of all CPUs.
fn variant_lane(
    word: &str,
    all_cpus: &[CellSeries<'_>],
    unit: FigureScale,
    bars: Vec<[f64; 3]>,
) -> Lane {
    let value = |figure| unit.value(figure);
    let summaries = || all_cpus.iter().map(|series| &series.series.summary);
    let min = summaries().map(|summary| summary.min).min().unwrap_or(0);
    let max = summaries().map(|summary| summary.max).max().unwrap_or(0);
    let mut medians: Vec<u64> = summaries().map(|summary| summary.median).collect();
    let median = value(lower_median(&mut medians));
    let p99 = summaries().filter_map(|summary| summary.p99).max();
    let sample_count = summaries().map(|summary| summary.n as usize).sum();
    let samples = many(sample_count, "sample");
    let cpus = many(all_cpus.len(), "CPU");
    let greatest = format!("{:.2} {}", value(max), unit.name());
    let is_bound = all_cpus
        .first()
        .is_some_and(|series| FigureKey::of(*series).is_histogram_bound());
    let at_least = if is_bound { ">= " } else { "" };
    let median_text = format!("median {at_least}{median:.2}, maximum {greatest}");
    let p99_text = match p99 {
        Some(figure) => format!(", largest p99 {:.2}", value(figure)),
        None => String::new(),
    };
    Lane {
        name: format!("{word}: max {greatest}"),
        description: format!("{word}: {samples} from {cpus}, {median_text}{p99_text}"),
        ends: [min, max].map(value),
        median,
        p99: p99.map(value),
        bars,
    }
}

/// Returns the number of samples in each bin, across all series.
fn sample_counts(all_series: &[CellSeries<'_>], bins: usize) -> Vec<u64> {
    let mut sums = vec![0u64; bins];
    for series in all_series {
        let Some(histogram) = &series.series.histogram else {
            continue;
        };
        let from_first = sums.iter_mut().skip(histogram.first.into());
        for (sum, count) in from_first.zip(&histogram.counts) {
            *sum = sum.saturating_add(u64::from(*count));
        }
    }
    sums
}

/// Draws `lanes`, each `height` tall, above a common axis. Returns None if no lane has a spread.
fn draw_lanes(texts: Texts, height: f64, lanes: &[Lane]) -> Option<Chart> {
    if lanes.iter().all(|lane| lane.ends[0] == lane.ends[1]) {
        return None;
    }
    let least = lanes.iter().map(|lane| lane.ends[0]).reduce(f64::min)?;
    let most = lanes.iter().map(|lane| lane.ends[1]).reduce(f64::max)?;
    let x = Scale::fitting((least, most), (LEFT, EDGE));
    let top = 6.0;
    let [name, unit] = texts.axis;
    let (mut drawing, bottom) = Drawing::of_lanes(top, height, lanes.len());
    let axis = format!("{name} ({unit}{})", x.kind());
    drawing.horizontal(&x, (top, bottom), &axis, x.ticks(78.0));
    for (index, lane) in lanes.iter().enumerate() {
        draw_lane(&mut drawing, &x, lane, top + height * index as f64, height);
    }
    let bars = "number of samples from all CPUs (logarithmic height)";
    let has_p99 = lanes.iter().any(|lane| lane.p99.is_some());
    let has_bars = lanes.iter().any(|lane| !lane.bars.is_empty());
    let legend = legend([
        ("range", "smallest to largest", true),
        ("median", "median", true),
        ("p99", "p99", has_p99),
        ("samples", bars, has_bars),
    ]);
    Some(drawing.figure(texts.id, [texts.title, texts.description], legend))
}

fn draw_lane(drawing: &mut Drawing, x: &Scale, lane: &Lane, y: f64, height: f64) {
    let base = y + height - 4.0;
    let is_tall = height > LANE;
    let top = if is_tall { y + 20.0 } else { y + 3.0 };
    let mut bars = String::new();
    for [from, to, share] in &lane.bars {
        let left = x.at(*from);
        let bar_height = ((base - top) * share).max(1.0);
        // The last bin has no upper bound; it starts at or below its largest sample.
        let width = (x.at(*to) - left).max(0.6);
        // Writing to a String cannot fail.
        let _ = write!(
            bars,
            "M{left:.1} {base:.1}v-{bar_height:.1}h{width:.1}v{bar_height:.1}z"
        );
    }
    if !bars.is_empty() {
        drawing.path("samples", &bars);
    }
    let ends = lane.ends.map(|lane_end| x.at(lane_end));
    drawing.line("range", (ends[0], base), (ends[1], base));
    for end in ends {
        drawing.line("range", (end, base - 4.0), (end, base + 3.0));
    }
    if let Some(p99) = lane.p99 {
        drawing.line("p99", (x.at(p99), top), (x.at(p99), base));
    }
    let size = (3.0, base - top + 1.0);
    drawing.rect(
        "median",
        (x.at(lane.median) - 1.5, top),
        size,
        &lane.description,
    );
    let (anchor, left) = if is_tall {
        ("start", LEFT)
    } else {
        ("end", LEFT - 8.0)
    };
    drawing.text(anchor, (left, y + 15.0), &lane.name);
}
