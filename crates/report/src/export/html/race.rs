//! Draws the map of a wake race: for each ending, a box from the first to the last offset of the
//! interrupt, and from the shortest to the longest time until the CPU was back.

use std::collections::BTreeMap;

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::{Cell, CellSeries, FigureScale};
use suite::plan::{ActiveCpus, Axis, Variant};
use suite::scenarios::RaceEnding;

use crate::export::document::Charts;
use crate::export::drawing::{Chart, Drawing, EDGE, LEFT, Scale, legend};

/// How a map shows an ending.
struct EndingStyle {
    class: &'static str,
    meaning: &'static str,
}

const fn style(ending: RaceEnding) -> EndingStyle {
    let (class, meaning) = match ending {
        RaceEnding::Returned => ("p-call", "returned before the power-down"),
        RaceEnding::Abandoned => ("p-flush", "abandoned the power-down"),
        RaceEnding::Woken => ("p-entry", "woken on the way down"),
        RaceEnding::Slept => ("p-wake", "slept"),
        RaceEnding::Lost => ("p-lost", "lost: woken only by an SGI"),
    };
    EndingStyle { class, meaning }
}

/// The subject of a map: a state, and the CPUs that suspend at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct MapKind {
    /// The variant that names the state.
    state: Variant,
    active: ActiveCpus,
}

/// A map, and the CPUs that have it.
struct RaceMap<'r> {
    kind: MapKind,
    cpus: Vec<String>,
    intervals: Vec<Interval<'r>>,
}

/// The suspends with one ending on one CPU, in ticks.
#[derive(Clone, Copy)]
struct Interval<'r> {
    ending: RaceEnding,
    series: CellSeries<'r>,
    offsets: (u64, u64),
    latencies: (u64, u64),
}

impl<'r> Interval<'r> {
    /// Returns a cell's interval, and the map that it belongs to.
    fn of(cell: &'r Cell) -> Option<(MapKind, Self)> {
        let (state, ending) = RaceEnding::from_variant(cell.step.variant)?;
        let series = cell.series_of(Metric::Wake)?;
        let interval = Self {
            ending,
            series: CellSeries { cell, series },
            offsets: (cell.step.value?, cell.figure(Metric::LastOffset)?),
            latencies: (series.summary.min, series.summary.max),
        };
        let active = cell.step.cpus;
        Some((MapKind { state, active }, interval))
    }

    fn extent(&self) -> (RaceEnding, (u64, u64), (u64, u64)) {
        (self.ending, self.offsets, self.latencies)
    }
}

/// Returns a drawing of each map; see [`maps`].
pub(super) fn figures(charts: &Charts<'_>) -> Vec<Chart> {
    let mut figures = Vec::new();
    if charts.scenario.id.axis() == Some(Axis::Offset) {
        for (index, map) in maps(charts).iter().enumerate() {
            figures.extend(figure(charts, index + 1, map));
        }
    }
    figures
}

/// Returns a map for each state. CPUs with equal maps share one.
fn maps<'r>(charts: &Charts<'r>) -> Vec<RaceMap<'r>> {
    let mut by_cpu: BTreeMap<(MapKind, CpuIndex), Vec<Interval<'_>>> = BTreeMap::new();
    for cell in &charts.scenario.cells {
        if let Some((kind, interval)) = Interval::of(cell) {
            let intervals = by_cpu.entry((kind, cell.cpu)).or_default();
            intervals.push(interval);
        }
    }
    let mut maps: Vec<RaceMap<'_>> = Vec::new();
    for ((kind, cpu), intervals) in by_cpu {
        let extents = |map: &[Interval<'_>]| map.iter().map(Interval::extent).collect_vec();
        let is_same = |map: &&mut RaceMap<'_>| {
            map.kind == kind && extents(&map.intervals) == extents(&intervals)
        };
        let label = charts.logged.run.label(cpu).to_string();
        match maps.iter_mut().find(is_same) {
            Some(map) => map.cpus.push(label),
            None => maps.push(RaceMap {
                kind,
                cpus: vec![label],
                intervals,
            }),
        }
    }
    maps
}

fn figure(charts: &Charts<'_>, number: usize, map: &RaceMap<'_>) -> Option<Chart> {
    let MapKind { state, active } = map.kind;
    let intervals = &map.intervals;
    let first = intervals.first()?.series;
    let unit = FigureScale::of_series(charts.logged.clock(), first);
    let axis_value = |ticks: u64| unit.value(ticks);
    let last_offsets = || intervals.iter().map(|interval| interval.offsets.1);
    let last = last_offsets().max()?;
    let least = last_offsets().filter(|offset| *offset > 0).min()?;
    // Zero cannot be shown on a logarithmic scale, so offset 0 is drawn at its left edge.
    let values = (axis_value(least) / 2.0, axis_value(last));
    let ends = (LEFT + 12.0, EDGE);
    let x = match Scale::fitting(values, ends) {
        scale if scale.kind().is_empty() => Scale::linear((0.0, values.1), ends),
        logarithmic => logarithmic,
    };
    let longest = intervals.iter().map(|interval| interval.latencies.1).max();
    let name = format!("Wake ({})", unit.name());
    let (mut drawing, y) = Drawing::of_values(longest.map_or(0.0, axis_value), &name);
    let label = format!("interrupt due after the call ({}){}", unit.name(), x.kind());
    drawing.bottom(&x, &label, x.ticks(78.0));
    for interval in intervals {
        let EndingStyle { class, meaning } = style(interval.ending);
        let [from, to] = [interval.offsets.0, interval.offsets.1].map(axis_value);
        let [low, high] = [interval.latencies.0, interval.latencies.1].map(axis_value);
        let description = format!(
            "{meaning}: interrupt due {from:.2} to {to:.2} {0} after the call, back {low:.2} to \
             {high:.2} {0} later",
            unit.name()
        );
        let left = x.at(from);
        let top = y.at(high);
        let height = (y.at(low) - top).max(4.0);
        drawing.rect(class, (left, top), (x.at(to) - left, height), &description);
    }
    let occurs = |ending| intervals.iter().any(|interval| interval.ending == ending);
    let marks = RaceEnding::ALL.map(|ending| {
        let EndingStyle { class, meaning } = style(ending);
        (class, meaning, occurs(ending))
    });
    let cpus = map.cpus.join(", ");
    let beside = match active {
        ActiveCpus::Alone => String::new(),
        ActiveCpus::All | ActiveCpus::Near | ActiveCpus::Far => format!(", {}", active.text()),
    };
    let state = state.word();
    let title = format!("What an interrupt finds, {state} state, CPU {cpus}{beside}");
    let description = format!(
        "Boxes for {} outcomes by the offset of the interrupt.",
        intervals.len()
    );
    let id = format!("{}-race{number}", charts.id);
    Some(drawing.figure(id, [title, description], legend(marks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_a_color_in_the_map_and_in_the_legend() {
        let style = include_str!("style.css");
        for EndingStyle { class, .. } in RaceEnding::ALL.map(super::style) {
            assert!(style.contains(&format!("\n.{class} {{ fill: ")), "{class}");
            let swatch = [" {", ","].map(|suffix| format!(".swatch.{class}{suffix}"));
            assert!(swatch.iter().any(|rule| style.contains(rule)), "{class}");
        }
    }
}
