//! Draws the spread of samples, with one drawing per figure. Each lane extends from the smallest to
//! the largest sample and shows the median and the p99. The TFTF suite has one lane per CPU. Steps
//! have one lane per variant, covering all CPUs, with bars if the samples were counted in bins. The
//! bar heights are logarithmic, so even a single outlier on the right is visible.

use std::fmt::Write;

use hardware::text::plural::many;
use suite::measure::{Bin, Histogram, Metric, lower_median};
use suite::model::{Cell, CellSeries, FigureScale};

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

pub(super) fn figures(charts: &Charts<'_>) -> impl Iterator<Item = Chart> {
    let columns = charts.scenario.columns().into_iter();
    let series = charts.scenario.step_series();
    let counted = series.filter(|series| series.series.histogram.is_some());
    let step_figures = (1..)
        .zip(by_metric(counted))
        .filter_map(|(number, group)| step_figure(charts, number, &group));
    columns
        .filter_map(|metric| suite_figure(charts, metric))
        .chain(step_figures)
}

/// Draws a figure of the TFTF suite, with one lane per CPU.
fn suite_figure(charts: &Charts<'_>, metric: Metric) -> Option<Chart> {
    let (logged, name, unit) = (charts.logged, metric.heading(), charts.logged.unit());
    let cells = charts.scenario.suite_cells().iter();
    let lane = |cell: &Cell| {
        let summary = cell.summary(metric)?;
        let label = logged.run.label(cell.cpu).to_string();
        let [least, most, middle] =
            [summary.min, summary.max, summary.median].map(|ticks| logged.duration(ticks));
        let p99_text = summary.p99.map_or_else(String::new, |ticks| {
            format!(", p99 {}", logged.duration(ticks))
        });
        let n = many(summary.n as usize, "sample");
        Some(Lane {
            description: format!(
                "CPU {label}: {n}, {least} to {most}, median {middle}{p99_text} {unit}"
            ),
            name: label,
            ends: [summary.min, summary.max].map(|ticks| charts.value(ticks)),
            median: charts.value(summary.median),
            p99: summary.p99.map(|ticks| charts.value(ticks)),
            bars: Vec::new(),
        })
    };
    let lanes: Vec<Lane> = cells.filter_map(lane).collect();
    let word = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let cpus = many(lanes.len(), "CPU");
    let texts = Texts {
        id: format!("{}-spread-{word}", charts.id),
        title: format!("Spread of {name}"),
        description: format!("The {name} samples from {cpus}, in {unit}."),
        axis: [name, unit],
    };
    draw(texts, LANE, &lanes)
}

/// Draws a figure of the steps that have a histogram, with one lane per variant.
fn step_figure(charts: &Charts<'_>, number: usize, group: &[CellSeries<'_>]) -> Option<Chart> {
    let first = *group.first()?;
    let unit = FigureScale::of_series(charts.logged.clock(), first);
    let bins: Vec<Bin> = Histogram::default().bins().collect();
    let by_variant = grouped(
        group
            .iter()
            .map(|series| (series.cell.step.variant, *series)),
    );
    let counts_by_variant: Vec<Vec<u64>> = by_variant
        .iter()
        .map(|(_, all_cpus)| counts(all_cpus, bins.len()))
        .collect();
    let highest_count = counts_by_variant.iter().flatten().max()?;
    let highest = (*highest_count as f64).ln_1p();
    let lanes: Vec<Lane> = by_variant
        .iter()
        .zip(counts_by_variant)
        .map(|((variant, all_cpus), counts)| {
            let filled = bins.iter().zip(counts).filter(|(_, count)| *count > 0);
            let bars = filled.map(|(bin, count)| {
                let end = bin.from.saturating_add(bin.width);
                let height = (count as f64).ln_1p() / highest;
                [unit.value(bin.from), unit.value(end), height]
            });
            variant_lane(variant.word(), all_cpus, unit, bars.collect())
        })
        .collect();
    let (name, count) = (first.series.metric.heading(), many(lanes.len(), "variant"));
    let texts = Texts {
        id: format!("{}-histogram{number}", charts.id),
        title: format!("Spread of {name}, {}", first.cell.step.cpus.text()),
        description: format!("The {name} for all CPUs, in {}: {count}.", unit.name()),
        axis: [name, unit.name()],
    };
    draw(texts, TALL, &lanes)
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
    let samples = summaries().map(|summary| summary.n as usize).sum();
    let (samples, cpus) = (many(samples, "sample"), many(all_cpus.len(), "CPU"));
    let greatest = format!("{:.2} {}", value(max), unit.name());
    let is_bound = all_cpus
        .first()
        .is_some_and(|series| FigureKey::of(*series).is_histogram_bound());
    let at_least = if is_bound { ">= " } else { "" };
    let median_text = format!("median {at_least}{median:.2}, maximum {greatest}");
    let p99_text = p99.map_or(String::new(), |figure| {
        format!(", largest p99 {:.2}", value(figure))
    });
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
fn counts(all_series: &[CellSeries<'_>], bins: usize) -> Vec<u64> {
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

fn draw(texts: Texts, height: f64, lanes: &[Lane]) -> Option<Chart> {
    let least = lanes.iter().map(|lane| lane.ends[0]).reduce(f64::min)?;
    let most = lanes.iter().map(|lane| lane.ends[1]).reduce(f64::max)?;
    let x = Scale::fitting((least, most), (LEFT, EDGE));
    let (top, [name, unit]) = (6.0, texts.axis);
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
        let (at, high) = (x.at(*from), ((base - top) * share).max(1.0));
        // The last bin has no upper bound; it starts at or below its largest sample.
        let width = (x.at(*to) - at).max(0.6);
        // Writing to a String cannot fail.
        let _ = write!(bars, "M{at:.1} {base:.1}v-{high:.1}h{width:.1}v{high:.1}z");
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
