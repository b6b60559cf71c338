//! The spread of points' samples, if the run has it: for each figure a drawing, in it
//! a lane for each variant with the counts of all CPUs.
//!
//! Heights are logarithms: one sample far out at the right has to be seen.

use std::collections::BTreeMap;
use std::fmt::Write;

use psci_bench::measure::Histogram;
use psci_bench::model::{Point, Scenario, Variant};

use super::chart::{AXIS, Anchor, Drawing, LEFT, RIGHT, Scale, WIDTH};
use crate::report::export::point_tables::{PointScale, by_measure, how_text};
use crate::report::log::LoggedRun;

/// The height of a variant's lane.
const TALL: f64 = 64.0;

pub(super) fn figures(id: &str, run: &LoggedRun, scenario: &Scenario) -> Vec<String> {
    let with = scenario.points.iter().filter(|it| it.spread.is_some());
    let all = by_measure(with).into_iter().enumerate();
    let figure = |(place, points): (usize, Vec<&Point>)| {
        figure(&format!("{id}-histogram{}", place + 1), run, &points)
    };
    all.filter_map(figure).collect()
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
    let bins = bins
        .bins()
        .map(|bin| (bin.from, bin.from.saturating_add(bin.width)));
    let bins: Vec<(u64, u64)> = bins.collect();
    let mut lanes: Vec<Lane<'r>> = Vec::new();
    for point in points {
        let at = lanes.iter().position(|it| it.variant == point.variant);
        let at = at.unwrap_or_else(|| {
            lanes.push(Lane {
                variant: point.variant,
                classes: BTreeMap::new(),
                own: Vec::new(),
            });
            lanes.len() - 1
        });
        if let Some(spread) = &point.spread {
            let classes = bins.iter().skip(spread.first.into()).zip(&spread.counts);
            for (bounds, count) in classes.filter(|it| *it.1 > 0) {
                let counted = lanes[at].classes.entry(*bounds).or_default();
                *counted = counted.saturating_add(u64::from(*count));
            }
        }
        lanes[at].own.push(point);
    }
    lanes
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

    /// Returns a figure with its unit.
    fn text(&self, figure: u64) -> String {
        format!("{:.2} {}", self.value(figure), self.unit.name())
    }
}

fn figure(id: &str, run: &LoggedRun, points: &[&Point]) -> Option<String> {
    let first = points.first()?;
    let unit = PointScale::of(run.clock(), points);
    let lanes = lanes(points);
    let ends = (
        points.iter().map(|it| it.figures.min).min()?,
        points.iter().map(|it| it.figures.max).max()?,
    );
    let values = (unit.value(first, ends.0), unit.value(first, ends.1));
    let axis = Axis {
        scale: Scale::fitting(values, (LEFT, WIDTH - RIGHT)),
        unit,
        first,
        most: lanes
            .iter()
            .flat_map(|it| it.classes.values().copied())
            .max()?,
    };
    let top = 6.0;
    let bottom = top + TALL * lanes.len() as f64 + 4.0;
    let mut drawing = Drawing::new(bottom + AXIS);
    let name = first.measure.heading();
    let log = if axis.scale.is_log() {
        ", logarithmic"
    } else {
        ""
    };
    let heading = format!("{name} ({}{log})", unit.name());
    drawing.horizontal(&axis.scale, (top, bottom), &heading);
    for (place, lane) in lanes.iter().enumerate() {
        draw_lane(&mut drawing, &axis, lane, top + TALL * (place + 1) as f64)?;
    }
    let mut legend = vec![
        (
            "samples",
            "how many samples of all CPUs (height: logarithm)",
        ),
        ("median", "median"),
        ("due", "greatest"),
    ];
    if points.iter().any(|it| it.figures.p99.is_some()) {
        legend.push(("p99", "p99, the greatest of a CPU"));
    }
    let title = format!("Spread of {name}, {}", how_text(first.how));
    let described = format!(
        "For each of {} variants, how many samples of all CPUs lie where, in {}.",
        lanes.len(),
        unit.name()
    );
    Some(drawing.figure(id, &title, &described, &legend))
}

fn draw_lane(drawing: &mut Drawing, axis: &Axis<'_>, lane: &Lane<'_>, base: f64) -> Option<()> {
    let mut path = String::new();
    for ((from, to), count) in &lane.classes {
        let left = axis.at(*from);
        // The last class is open, and begins no later than its greatest.
        let width = (axis.at(*to) - left).max(0.6);
        let share = (*count as f64).ln_1p() / (axis.most as f64).ln_1p();
        let high = ((TALL - 22.0) * share.clamp(0.0, 1.0)).max(1.0);
        // A String takes all.
        let _ = write!(
            path,
            "M{left:.1} {base:.1}v-{high:.1}h{width:.1}v{high:.1}z"
        );
    }
    drawing.path("samples", &path);
    drawing.line("axis", (LEFT, base), (WIDTH - RIGHT, base));
    let own = &lane.own;
    let mut medians: Vec<u64> = own.iter().map(|it| it.figures.median).collect();
    medians.sort_unstable();
    let median = medians.get(medians.len().saturating_sub(1) / 2).copied()?;
    let max = own.iter().map(|it| it.figures.max).max()?;
    let samples: u64 = own.iter().map(|it| u64::from(it.figures.n)).sum();
    let variant = lane.variant.word();
    let mut said = format!(
        "{variant}: {samples} samples of {} CPUs, median {:.2}, greatest {}",
        own.len(),
        axis.value(median),
        axis.text(max)
    );
    let high = base - TALL + 20.0;
    if let Some(p99) = own.iter().filter_map(|it| it.figures.p99).max() {
        let _ = write!(said, ", p99 {:.2}", axis.value(p99));
        drawing.line("p99", (axis.at(p99), high), (axis.at(p99), base));
    }
    drawing.line("due", (axis.at(max), base - 14.0), (axis.at(max), base));
    let corner = (axis.at(median) - 1.5, high);
    drawing.rect("median", corner, (3.0, TALL - 20.0), &said);
    let label = format!("{variant}: max {}", axis.text(max));
    drawing.text(Anchor::End, (WIDTH - RIGHT, base - TALL + 16.0), &label);
    Some(())
}
