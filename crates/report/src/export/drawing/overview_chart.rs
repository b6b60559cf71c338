//! Draws the figures of all of a run's scenarios on one axis, with one lane for each scenario.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::{Metric, Unit};
use suite::model::{FigureScale, Scenario};

use super::chart::{Chart, Drawing, EDGE, LANE, Mark, Scale};
use crate::analysis::figure::{Figure, figures};
use crate::log::LoggedRun;

/// The space for a scenario's tag.
const LEFT: f64 = 190.0;
/// The CSS classes of the figures' dots, in order.
const DOTS: [&str; 8] = [
    "dot c0", "dot c1", "dot c2", "dot c3", "dot c4", "dot c5", "dot c6", "dot c7",
];

/// A figure's name, and its values for the CPUs and variants that have it.
type Dots = (&'static str, Vec<(f64, String)>);

/// Returns the chart; None if fewer than two scenarios have a time in it.
pub(in crate::export) fn overview_chart(logged: &LoggedRun, id: String) -> Option<Chart> {
    let scenarios = logged.run.scenarios.iter();
    let lanes = scenarios
        .map(|scenario| (scenario.id.short_tag(), dots(logged, scenario)))
        .filter(|(_, dots)| !dots.is_empty())
        .collect_vec();
    let all = || lanes.iter().flat_map(|(_, dots)| dots);
    let values = all().flat_map(|(_, dots)| dots.iter().map(|(value, _)| *value));
    let (least, most) = values.minmax_by(f64::total_cmp).into_option()?;
    if lanes.len() < 2 {
        return None;
    }
    let names = all().map(|(name, _)| *name).unique().collect_vec();
    let class = |name: &str| {
        let index = names.iter().position(|other| *other == name).unwrap_or(0);
        DOTS[index % DOTS.len()]
    };
    let x = Scale::fitting((least, most), (LEFT, EDGE));
    let top = 4.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, LANE, lanes.len());
    let axis = format!("figure ({}{})", logged.unit(), x.kind());
    drawing.horizontal(&x, (top, bottom), &axis, x.ticks(64.0));
    for (index, (tag, lane)) in lanes.iter().enumerate() {
        let middle = top + LANE * (index as f64 + 0.5);
        drawing.text("end", (LEFT - 8.0, middle + 5.0), tag);
        for (name, dots) in lane {
            for (value, description) in dots {
                drawing.dot(class(name), (x.at(*value), middle), true, description);
            }
        }
    }
    let legend: Vec<Mark> = names
        .iter()
        .map(|name| (class(name), (*name).to_owned()))
        .collect();
    let title = "All scenarios: the figures of each CPU".to_owned();
    let description = format!("A lane for each of {}.", many(lanes.len(), "scenario"));
    Some(drawing.figure(id, [title, description], legend))
}

/// Returns the times that a scenario's tables show first, in their unit. Zero is left out, because a
/// logarithmic axis cannot show it.
fn dots(logged: &LoggedRun, scenario: &Scenario) -> Vec<Dots> {
    let scale = FigureScale::of_durations(logged.clock());
    // An offset is a result of a wake race, but not a time that something takes.
    let is_time = |figure: &Figure<'_>| {
        figure.key.unit() == Unit::Ticks
            && figure.key.metric != Metric::LastOffset
            && !figure.key.step.variant.is_baseline()
    };
    let placed = figures(logged, scenario)
        .into_iter()
        .filter(is_time)
        .filter_map(|figure| {
            let median = if figure.key.is_of_step() {
                figure.summary?.median
            } else {
                figure.shown?
            };
            let per_operation = median as f64 / f64::from(figure.key.per());
            let value = scale.value(1) * per_operation;
            let label = logged.run.label(figure.cpu);
            let description = format!(
                "{}, {}, CPU {label}: {value:.2} {}",
                scenario.id.short_tag(),
                figure.key.in_sentence(),
                logged.unit()
            );
            (value > 0.0).then_some((figure.key.heading(), (value, description)))
        });
    let by_name = placed.into_group_map();
    by_name
        .into_iter()
        .sorted_by_key(|(name, _)| *name)
        .collect()
}
