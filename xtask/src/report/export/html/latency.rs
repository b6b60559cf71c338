//! The spread of points' samples, if the run has it: for each figure a drawing, in it
//! a lane for each variant with the counts of all CPUs.
//!
//! Heights are logarithms: one sample far out at the right has to be seen.

use psci_bench::measure::{Histogram, lower_median};
use psci_bench::model::Point;

use super::chart::{EDGE, Figure, LEFT, Scale};
use super::lanes::{self, Lane, Texts};
use crate::report::analysis::figure::FigureKey;
use crate::report::export::document::Charts;
use crate::report::export::point_tables::{DrawnScale, by_measure};
use crate::report::log::grouped::grouped;
use crate::setup::plural::many;

/// The height of a variant's lane.
const TALL: f64 = 76.0;

pub(super) fn figures(charts: &Charts<'_>) -> impl Iterator<Item = Figure> {
    let points = charts.scenario.points.iter();
    let with = by_measure(points.filter(|it| it.spread.is_some()));
    let all = with.into_iter().enumerate();
    all.filter_map(move |(place, points)| figure(charts, place + 1, &points))
}

fn figure(charts: &Charts<'_>, number: usize, points: &[&Point]) -> Option<Figure> {
    let first = *points.first()?;
    let unit = DrawnScale::of(charts.run.clock(), first);
    let value = |figure| unit.value(first, figure);
    let is_of_classes = FigureKey::of(first).is_of_classes();
    let at_least = if is_of_classes { ">= " } else { "" };
    let least = points.iter().map(|it| it.figures.min).min()?;
    let most = points.iter().map(|it| it.figures.max).max()?;
    let scale = Scale::fitting((value(least), value(most)), (LEFT, EDGE));
    let at = |figure| scale.at(value(figure));
    let histogram = Histogram::default();
    let bins: Vec<_> = histogram.bins().collect();
    let variants = grouped(points.iter().map(|it| (it.variant, *it)));
    let counts = variants.iter().map(|it| counts(&it.1, bins.len()));
    let counts: Vec<Vec<u64>> = counts.collect();
    let highest = (counts.iter().flatten().copied().max()? as f64).ln_1p();
    let lanes = variants.iter().zip(counts).map(|((variant, own), counts)| {
        let filled = bins.iter().zip(counts).filter(|it| it.1 > 0);
        let bars = filled.map(|(bin, count)| {
            let x = at(bin.from);
            // The last class is open, and begins no later than its greatest.
            let width = (at(bin.from.saturating_add(bin.width)) - x).max(0.6);
            [x, width, (count as f64).ln_1p() / highest]
        });
        let bars = bars.collect();
        let min = own.iter().map(|it| it.figures.min).min().unwrap_or(least);
        let max = own.iter().map(|it| it.figures.max).max().unwrap_or(most);
        let mut medians: Vec<u64> = own.iter().map(|it| it.figures.median).collect();
        let median = lower_median(&mut medians);
        let p99 = own.iter().filter_map(|it| it.figures.p99).max();
        let samples = own.iter().map(|it| it.figures.n as usize).sum();
        let greatest = format!("{:.2} {}", value(max), unit.name);
        let median_text = format!("median {at_least}{:.2}", value(median));
        let p99_text = p99.map(|it| format!(", p99 of a CPU {:.2}", value(it)));
        let (samples, cpus) = (many(samples, "sample"), many(own.len(), "CPU"));
        let said = format!("{samples} of {cpus}, {median_text}, greatest {greatest}");
        Lane {
            name: format!("{}: max {greatest}", variant.word()),
            said: format!("{}: {said}{}", variant.word(), p99_text.unwrap_or_default()),
            bars,
            ends: [at(min), at(max)],
            median: at(median),
            p99: p99.map(at),
        }
    });
    let lanes: Vec<Lane> = lanes.collect();
    let (name, unit, count) = (
        first.measure.heading(),
        unit.name,
        many(lanes.len(), "variant"),
    );
    let texts = Texts {
        id: format!("{}-histogram{number}", charts.id),
        title: format!("Spread of {name}, {}", first.how.text()),
        said: format!("The {name} of all CPUs, in {unit}: {count}."),
        heading: format!("{name} ({unit}{})", scale.kind()),
        bars: "how many samples of all CPUs (height: logarithm)",
    };
    Some(lanes::figure(texts, &scale, TALL, &lanes))
}

/// Returns the numbers of samples of all points in each class.
fn counts(points: &[&Point], classes: usize) -> Vec<u64> {
    let mut all = vec![0u64; classes];
    for spread in points.iter().filter_map(|it| it.spread.as_ref()) {
        let own = all.iter_mut().skip(spread.first.into());
        for (sum, count) in own.zip(&spread.counts) {
            *sum = sum.saturating_add(u64::from(*count));
        }
    }
    all
}
