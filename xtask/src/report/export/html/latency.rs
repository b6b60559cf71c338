//! The spread of points' samples, if the run has it: for each figure a drawing, in it
//! a lane for each variant with the counts of all CPUs.
//!
//! Heights are logarithms: one sample far out at the right has to be seen.

use std::collections::BTreeMap;

use psci_bench::measure::Histogram;
use psci_bench::model::{Point, Scenario, Variant};

use super::chart::{Drawing, EDGE, Figure, LEFT, Scale, add_bar};
use crate::report::export::point_tables::{PointScale, by_measure, how_text};
use crate::report::log::LoggedRun;
use crate::report::log::grouped::grouped;

/// The height of a variant's lane.
const TALL: f64 = 64.0;

pub(super) fn figures(id: &str, run: &LoggedRun, scenario: &Scenario) -> Vec<Figure> {
    let with = scenario.points.iter().filter(|it| it.spread.is_some());
    let all = by_measure(with).into_iter().enumerate();
    all.filter_map(|(place, points)| figure(format!("{id}-histogram{}", place + 1), run, &points))
        .collect()
}

/// The points of a variant.
struct Lane<'r> {
    variant: Variant,
    /// The numbers of samples, by the bounds of their classes.
    classes: BTreeMap<(u64, u64), u64>,
    own: Vec<&'r Point>,
}

fn lanes<'r>(points: &[&'r Point]) -> Vec<Lane<'r>> {
    let bins = Histogram::default();
    let bins = bins.bins();
    let bins: Vec<(u64, u64)> = bins
        .map(|bin| (bin.from, bin.from.saturating_add(bin.width)))
        .collect();
    let variants = grouped(points.iter().map(|it| (it.variant, *it)));
    let lanes = variants.into_iter().map(|(variant, own)| {
        let mut classes = BTreeMap::new();
        for spread in own.iter().filter_map(|it| it.spread.as_ref()) {
            let counted = bins.iter().skip(spread.first.into()).zip(&spread.counts);
            for (bounds, count) in counted.filter(|it| *it.1 > 0) {
                let all: &mut u64 = classes.entry(*bounds).or_default();
                *all = all.saturating_add(u64::from(*count));
            }
        }
        Lane {
            variant,
            classes,
            own,
        }
    });
    lanes.collect()
}

/// The horizontal axis and the greatest count.
struct Axis<'r> {
    scale: Scale,
    unit: PointScale,
    first: &'r Point,
    most: u64,
}

impl Axis<'_> {
    fn value(&self, figure: u64) -> f64 {
        self.unit.value(self.first, figure)
    }

    fn at(&self, figure: u64) -> f64 {
        self.scale.at(self.value(figure))
    }
}

fn figure(id: String, run: &LoggedRun, points: &[&Point]) -> Option<Figure> {
    let first = *points.first()?;
    let unit = PointScale::of(run.clock(), points);
    let lanes = lanes(points);
    let least = points.iter().map(|it| it.figures.min).min()?;
    let greatest = points.iter().map(|it| it.figures.max).max()?;
    let values = (unit.value(first, least), unit.value(first, greatest));
    let counts = lanes.iter().flat_map(|it| it.classes.values().copied());
    let axis = Axis {
        scale: Scale::fitting(values, (LEFT, EDGE)),
        unit,
        first,
        most: counts.max()?,
    };
    let top = 6.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, TALL, lanes.len());
    let (name, unit) = (first.measure.heading(), unit.name());
    let heading = format!("{name} ({unit}{})", axis.scale.kind());
    drawing.horizontal(&axis.scale, (top, bottom), &heading);
    for (place, lane) in lanes.iter().enumerate() {
        draw_lane(&mut drawing, &axis, lane, top + TALL * (place + 1) as f64)?;
    }
    let samples = "how many samples of all CPUs (height: logarithm)";
    let mut legend = vec![
        ("samples", samples),
        ("median", "median"),
        ("due", "greatest"),
    ];
    if points.iter().any(|it| it.figures.p99.is_some()) {
        legend.push(("p99", "p99, the greatest of a CPU"));
    }
    let legend = legend.into_iter().map(|it| (it.0, it.1.to_owned()));
    let title = format!("Spread of {name}, {}", how_text(first.how));
    let said = format!(
        "For each of {} variants, how many samples of all CPUs lie where, in {unit}.",
        lanes.len()
    );
    Some(drawing.figure(id, title, said, legend.collect()))
}

fn draw_lane(drawing: &mut Drawing, axis: &Axis<'_>, lane: &Lane<'_>, base: f64) -> Option<()> {
    let mut path = String::new();
    for ((from, to), count) in &lane.classes {
        let left = axis.at(*from);
        // The last class is open, and begins no later than its greatest.
        let width = (axis.at(*to) - left).max(0.6);
        let share = (*count as f64).ln_1p() / (axis.most as f64).ln_1p();
        let high = ((TALL - 22.0) * share.clamp(0.0, 1.0)).max(1.0);
        add_bar(&mut path, (left, base), (width, high));
    }
    drawing.path("samples", &path);
    drawing.line("axis", (LEFT, base), (EDGE, base));
    let own = &lane.own;
    let mut medians: Vec<u64> = own.iter().map(|it| it.figures.median).collect();
    medians.sort_unstable();
    let median = medians.get(medians.len().saturating_sub(1) / 2).copied()?;
    let max = own.iter().map(|it| it.figures.max).max()?;
    let samples: u64 = own.iter().map(|it| u64::from(it.figures.n)).sum();
    let variant = lane.variant.word();
    let greatest = format!("{:.2} {}", axis.value(max), axis.unit.name());
    let mut said = format!(
        "{variant}: {samples} samples of {} CPUs, median {:.2}, greatest {greatest}",
        own.len(),
        axis.value(median)
    );
    let high = base - TALL + 20.0;
    if let Some(p99) = own.iter().filter_map(|it| it.figures.p99).max() {
        said += &format!(", p99 {:.2}", axis.value(p99));
        drawing.line("p99", (axis.at(p99), high), (axis.at(p99), base));
    }
    drawing.line("due", (axis.at(max), base - 14.0), (axis.at(max), base));
    let corner = (axis.at(median) - 1.5, high);
    drawing.rect("median", corner, (3.0, TALL - 20.0), &said);
    let label = format!("{variant}: max {greatest}");
    drawing.text("end", (EDGE, base - TALL + 16.0), &label);
    Some(())
}
