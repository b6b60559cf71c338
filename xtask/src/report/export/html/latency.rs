//! How the samples of points are spread, where the run tells: for each figure
//! a drawing, in it a lane for each variant with the counts of all CPUs.
//!
//! Heights are logarithms: what a real-time person looks for is the one
//! sample far out at the right.

use std::collections::BTreeMap;
use std::fmt::Write;

use psci_bench::measure::Histogram;
use psci_bench::model::{Point, Scenario, Variant};

use super::chart::{AXIS, Anchor, Drawing, LEFT, Mark, RIGHT, Scale, WIDTH};
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

/// All classes of a variant: where they begin and end, and how many are there.
type Classes = BTreeMap<(u64, u64), u64>;

fn figure(id: &str, run: &LoggedRun, points: &[&Point]) -> Option<String> {
    let first = points.first()?;
    let unit = PointScale::of(run.clock(), points);
    let value = |figure: u64| unit.value(first, figure);
    let bins = Histogram::new();
    let bins: Vec<(u64, u64)> = bins
        .bins()
        .map(|bin| (bin.from, bin.from.saturating_add(bin.width)))
        .collect();
    let mut variants: Vec<(Variant, Classes, Vec<&Point>)> = Vec::new();
    for point in points {
        let at = variants.iter().position(|it| it.0 == point.variant);
        let at = at.unwrap_or_else(|| {
            variants.push((point.variant, Classes::new(), Vec::new()));
            variants.len() - 1
        });
        let spread = point.spread.as_ref()?;
        let classes = bins.iter().skip(spread.first.into()).zip(&spread.counts);
        for (bounds, count) in classes.filter(|it| *it.1 > 0) {
            let counted = variants[at].1.entry(*bounds).or_default();
            *counted = counted.saturating_add(u64::from(*count));
        }
        variants[at].2.push(point);
    }
    let least = points.iter().map(|it| it.figures.min).min()?;
    let greatest = points.iter().map(|it| it.figures.max).max()?;
    let scale = Scale::fitting((value(least), value(greatest)), (LEFT, WIDTH - RIGHT));
    let most = variants.iter().flat_map(|it| it.1.values()).max()?;
    let height = |count: u64| {
        (TALL - 22.0) * ((count as f64).ln_1p() / (*most as f64).ln_1p()).clamp(0.0, 1.0)
    };

    let top = 6.0;
    let bottom = top + TALL * variants.len() as f64 + 4.0;
    let mut drawing = Drawing::new(bottom + AXIS);
    let name = first.measure.heading();
    let log = if scale.is_log() { ", logarithmic" } else { "" };
    drawing.horizontal(
        &scale,
        (top, bottom),
        &format!("{name} ({}{log})", unit.name()),
    );
    for (place, (variant, classes, own)) in variants.iter().enumerate() {
        let variant = variant.word();
        let base = top + TALL * (place + 1) as f64;
        let mut path = String::new();
        for ((from, to), count) in classes {
            let left = scale.at(value(*from));
            // The last class is open, and begins no later than its greatest.
            let width = (scale.at(value(*to)) - left).max(0.6);
            let high = height(*count).max(1.0);
            // A String takes all.
            let _ = write!(
                path,
                "M{left:.1} {base:.1}v-{high:.1}h{width:.1}v{high:.1}z"
            );
        }
        drawing.path("samples", &path);
        drawing.line("axis", (LEFT, base), (WIDTH - RIGHT, base));
        let medians = own.iter().map(|it| it.figures.median);
        let mut medians: Vec<u64> = medians.collect();
        medians.sort_unstable();
        let median = medians.get(medians.len().saturating_sub(1) / 2).copied()?;
        let p99 = own.iter().filter_map(|it| it.figures.p99).max();
        let max = own.iter().map(|it| it.figures.max).max()?;
        let samples: u64 = own.iter().map(|it| u64::from(it.figures.n)).sum();
        let shown = |figure: u64| format!("{:.2}", value(figure));
        let mut said = format!(
            "{variant}: {samples} samples of {} CPUs, median {}, greatest {} {}",
            own.len(),
            shown(median),
            shown(max),
            unit.name()
        );
        if let Some(p99) = p99 {
            let _ = write!(said, ", p99 {}", shown(p99));
            let at = scale.at(value(p99));
            drawing.line("p99", (at, base - TALL + 20.0), (at, base));
        }
        let at = scale.at(value(max));
        drawing.line("due", (at, base - 14.0), (at, base));
        drawing.rect(
            "median",
            (scale.at(value(median)) - 1.5, base - TALL + 20.0),
            (3.0, TALL - 20.0),
            &said,
        );
        let label = format!("{variant}: max {} {}", shown(max), unit.name());
        drawing.text(Anchor::End, (WIDTH - RIGHT, base - TALL + 16.0), &label);
    }
    let mut legend = vec![
        Mark {
            class: "samples",
            name: "how many samples of all CPUs (height: logarithm)",
        },
        Mark {
            class: "median",
            name: "median",
        },
        Mark {
            class: "due",
            name: "greatest",
        },
    ];
    if points.iter().any(|it| it.figures.p99.is_some()) {
        legend.push(Mark {
            class: "p99",
            name: "p99, the greatest of a CPU",
        });
    }
    let title = format!("Spread of {name}, {}", how_text(first.how));
    let described = format!(
        "For each of {} variants, how many samples of all CPUs lie where, in {}.",
        variants.len(),
        unit.name()
    );
    Some(drawing.figure(id, &title, &described, &legend))
}
