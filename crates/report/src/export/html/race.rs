//! Draws the map of a wake race: for each outcome, a box from the first to the last offset of the
//! interrupt, and from the shortest to the longest time until the CPU was back.

use hardware::text::join::join;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::{Cell, CellSeries, FigureScale};
use suite::plan::{ActiveCpus, Axis};

use super::chart::{Chart, Drawing, EDGE, LEFT, Scale, legend};
use crate::export::document::Charts;

/// An outcome of a suspend.
#[derive(Debug, PartialEq, Eq)]
struct RaceOutcome {
    /// The last word of the cell's variant.
    word: &'static str,
    class: &'static str,
    meaning: &'static str,
}

const OUTCOMES: [RaceOutcome; 5] = [
    outcome("returned", "p-call", "returned before the power-down"),
    outcome("abandoned", "p-flush", "abandoned the power-down"),
    outcome("woken", "p-entry", "woken on the way down"),
    outcome("slept", "p-wake", "slept"),
    outcome("lost", "p-lost", "lost: woken only by an SGI"),
];

const fn outcome(word: &'static str, class: &'static str, meaning: &'static str) -> RaceOutcome {
    RaceOutcome {
        word,
        class,
        meaning,
    }
}

/// What a map is about: a state, and the CPUs that suspend at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct MapKind {
    state: &'static str,
    how: ActiveCpus,
}

/// A map, and the CPUs that have it.
struct RaceMap<'r> {
    kind: MapKind,
    cpus: Vec<String>,
    intervals: Vec<Interval<'r>>,
}

/// An outcome on one CPU, in ticks.
#[derive(Clone, Copy)]
struct Interval<'r> {
    outcome: &'static RaceOutcome,
    series: CellSeries<'r>,
    offsets: (u64, u64),
    latencies: (u64, u64),
}

impl<'r> Interval<'r> {
    /// Returns a cell's interval, and the map that it belongs to.
    fn of(cell: &'r Cell) -> Option<(MapKind, Self)> {
        let (state, word) = cell.step.variant.word().split_once('_')?;
        let outcome = OUTCOMES.iter().find(|it| it.word == word)?;
        let series = cell.series_of(Metric::Wake)?;
        let interval = Self {
            outcome,
            series: CellSeries { cell, series },
            offsets: (cell.step.value?, cell.figure(Metric::LastOffset)?),
            latencies: (series.summary.min, series.summary.max),
        };
        let how = cell.step.cpus;
        Some((MapKind { state, how }, interval))
    }

    fn extent(&self) -> (&'static str, (u64, u64), (u64, u64)) {
        (self.outcome.word, self.offsets, self.latencies)
    }
}

/// Returns a map for each state. CPUs with equal maps share one.
pub(super) fn figures(charts: &Charts<'_>) -> impl Iterator<Item = Chart> {
    let scenario = charts.scenario;
    let cells = scenario.cells.iter();
    let cells = cells.filter(|_| scenario.id.axis() == Some(Axis::Offset));
    let by_map = cells
        .filter_map(|cell| Interval::of(cell).map(|(kind, it)| ((kind, cell.cpu), it)))
        .into_group_map()
        .into_iter()
        .sorted_by_key(|it| it.0);
    let mut maps: Vec<RaceMap<'_>> = Vec::new();
    for ((kind, cpu), intervals) in by_map {
        let extents = |map: &[Interval<'_>]| map.iter().map(Interval::extent).collect_vec();
        let is_same = |it: &&mut RaceMap<'_>| {
            it.kind == kind && extents(&it.intervals) == extents(&intervals)
        };
        let label = charts.run.run.label(cpu).to_string();
        match maps.iter_mut().find(is_same) {
            Some(found) => found.cpus.push(label),
            None => maps.push(RaceMap {
                kind,
                cpus: vec![label],
                intervals,
            }),
        }
    }
    let all = maps.into_iter().enumerate();
    all.filter_map(|(place, map)| figure(charts, place + 1, &map))
}

fn figure(charts: &Charts<'_>, number: usize, map: &RaceMap<'_>) -> Option<Chart> {
    let MapKind { state, how } = map.kind;
    let (cpus, map) = (&map.cpus, &map.intervals);
    let first = map.first()?.series;
    let unit = FigureScale::of_series(charts.run.clock(), first);
    let drawn = |ticks: u64| unit.value(ticks);
    let last = map.iter().map(|it| it.offsets.1).max()?;
    let least = map
        .iter()
        .map(|it| it.offsets.1)
        .filter(|it| *it > 0)
        .min()?;
    // Zero cannot be shown on a logarithmic scale, so offset 0 is drawn at the left edge.
    let x = Scale::fitting((drawn(least) / 2.0, drawn(last)), (LEFT + 12.0, EDGE));
    let highest = map.iter().map(|it| drawn(it.latencies.1));
    let name = format!("Wake ({})", unit.name());
    let (mut drawing, y) = Drawing::of_values(highest.fold(0.0, f64::max), &name);
    let label = format!("interrupt due after the call ({}){}", unit.name(), x.kind());
    drawing.bottom(&x, &label, x.ticks(78.0));
    for it in map {
        let RaceOutcome { class, meaning, .. } = it.outcome;
        let [from, to] = [it.offsets.0, it.offsets.1].map(drawn);
        let [low, high] = [it.latencies.0, it.latencies.1].map(drawn);
        let said = format!(
            "{meaning}: interrupt due {from:.2} to {to:.2} {0} after the call, back {low:.2} to \
             {high:.2} {0} later",
            unit.name()
        );
        let (left, top) = (x.at(from), y.at(high));
        let height = (y.at(low) - top).max(4.0);
        drawing.rect(class, (left, top), (x.at(to) - left, height), &said);
    }
    let has = |outcome: &RaceOutcome| map.iter().any(|it| it.outcome == outcome);
    let marks = OUTCOMES.each_ref();
    let marks = marks.map(|outcome| (outcome.class, outcome.meaning, has(outcome)));
    let cpus = join(cpus.iter(), ", ");
    let beside = match how {
        ActiveCpus::Alone => String::new(),
        ActiveCpus::All | ActiveCpus::Near | ActiveCpus::Far => format!(", {}", how.text()),
    };
    let title = format!("What an interrupt finds, {state} state, CPU {cpus}{beside}");
    let said = format!(
        "Boxes for {} outcomes by the offset of the interrupt.",
        map.len()
    );
    let id = format!("{}-race{number}", charts.id);
    Some(drawing.figure(id, [title, said], legend(marks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_color_in_the_map_and_in_the_legend() {
        let style = include_str!("style.css");
        for RaceOutcome { class, .. } in &OUTCOMES {
            assert!(style.contains(&format!("\n.{class} {{ fill: ")), "{class}");
            let swatch = [" {", ","].map(|end| format!(".swatch.{class}{end}"));
            assert!(swatch.iter().any(|it| style.contains(it)), "{class}");
        }
    }
}
