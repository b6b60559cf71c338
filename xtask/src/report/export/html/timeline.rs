//! Time lines: a lane a CPU, before low power and behind it.
//!
//! Low power itself is as long as the payload chose, and would leave no room
//! for what is measured: it is cut out, and the two sides have axes of their
//! own.

use psci_bench::model::{Instant, Instants, Row, Scenario};
use psci_bench::spec::pmf::Stamp;

use super::chart::{Drawing, EDGE, Figure, LANE, LEFT, Mark, Scale, units};
use crate::report::analysis::phases::{PHASES, Phase, Side, Slice, groups, slices};
use crate::report::log::LoggedRun;

/// The gap between the two sides.
const GAP: f64 = 48.0;
/// The least part of the width that a side gets.
const LEAST: f64 = 0.3;

struct Lane<'r> {
    row: &'r Row,
    slices: Vec<Slice>,
    /// The ticks to subtract, before low power and behind it.
    zero: [i64; 2],
    /// When the wake-up was due.
    due: Option<i64>,
}

/// Both sides of low power; without any there is one side.
struct Axes<'r> {
    run: &'r LoggedRun,
    has_low_power: bool,
    scales: [Option<Scale>; 2],
}

impl Axes<'_> {
    /// Returns the side of a phase; None of low power.
    fn side(&self, phase: Phase) -> Option<usize> {
        match phase.side {
            _ if !self.has_low_power => Some(0),
            Side::Down => Some(0),
            Side::Up => Some(1),
            Side::Between => None,
        }
    }

    /// Returns an instant of a lane in the unit of tables.
    fn value(&self, lane: &Lane<'_>, side: usize, ticks: i64) -> f64 {
        let ticks = ticks.saturating_sub(lane.zero[side]);
        let value = units(self.run, ticks.unsigned_abs());
        if ticks < 0 { -value } else { value }
    }

    /// Returns the place of an instant of a lane.
    fn at(&self, lane: &Lane<'_>, side: usize, ticks: i64) -> Option<f64> {
        let scale = self.scales[side].as_ref()?;
        Some(scale.at(self.value(lane, side, ticks)))
    }

    /// Returns the least and the greatest instant of a side.
    fn extent(&self, lanes: &[Lane<'_>], side: usize) -> Option<(f64, f64)> {
        let mut all: Option<(f64, f64)> = None;
        for lane in lanes {
            let own = lane.slices.iter();
            for slice in own.filter(|it| self.side(it.phase) == Some(side)) {
                let [from, to] = [slice.from, slice.to].map(|it| self.value(lane, side, it));
                // An axis begins at its zero, or before.
                let (least, most) = all.unwrap_or((0.0, to));
                all = Some((least.min(from), most.max(to)));
            }
        }
        all
    }
}

pub(super) fn figure(id: &str, run: &LoggedRun, scenario: &Scenario) -> Option<Figure> {
    let lanes = lanes(scenario);
    let slices = || lanes.iter().flat_map(|lane| &lane.slices);
    let mut axes = Axes {
        run,
        has_low_power: slices().any(|it| it.phase.side == Side::Between),
        scales: [None, None],
    };
    axes.scales = scales([0, 1].map(|side| axes.extent(&lanes, side)));
    axes.scales.iter().flatten().next()?;
    let top = 22.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, LANE, lanes.len());
    let headings = ["Going down", "Waking up"];
    let names = zeros(run, scenario);
    for ((scale, heading), name) in axes.scales.iter().zip(headings).zip(names) {
        let Some(scale) = scale else { continue };
        if axes.has_low_power {
            drawing.text("start", (scale.places.0, 14.0), heading);
        }
        drawing.horizontal(scale, (top, bottom), &name);
    }
    for (place, lane) in lanes.iter().enumerate() {
        draw_lane(&mut drawing, &axes, lane, top + LANE * place as f64);
    }
    let is_seen = |phase: Phase| slices().any(|it| it.phase == phase);
    let marks = PHASES.into_iter().filter(|it| is_seen(*it));
    let marks = marks.map(|it| (it.class, it.name.to_owned()));
    let mut legend: Vec<Mark> = marks.collect();
    if axes.scales[1].is_some() && lanes.iter().any(|lane| lane.due.is_some()) {
        legend.push(("due", "wake-up due".to_owned()));
    }
    let order = order_text(scenario, &lanes);
    let said = format!(
        "What each of {} CPUs does, as bars along an axis of time in {}. {order}",
        lanes.len(),
        run.unit()
    );
    let title = format!("Time line of the samples shown. {order}");
    Some(drawing.figure(format!("{id}-timeline"), title, said, legend))
}

fn order_text(scenario: &Scenario, lanes: &[Lane<'_>]) -> &'static str {
    if !scenario.id.is_parallel() {
        "Each CPU has its own time, as they are measured one after another."
    } else if lanes.iter().any(|lane| lane.row.went_down().is_some()) {
        "CPUs are in the order in which they went down."
    } else {
        "CPUs are in the order of their calls."
    }
}

fn draw_lane(drawing: &mut Drawing, axes: &Axes<'_>, lane: &Lane<'_>, y: f64) {
    let label = axes.run.run.label(lane.row.cpu).to_string();
    drawing.text("end", (LEFT - 8.0, y + 15.0), &label);
    let [down, up] = &axes.scales;
    for slice in &lane.slices {
        let class = slice.phase.class;
        let span = axes.run.clock().span(slice.to.abs_diff(slice.from));
        let said = format!("CPU {label}: {} {span}", slice.phase.name);
        let mut bar = |from: f64, to: f64, top: f64, height: f64| {
            drawing.rect(class, (from, y + top), (to - from, height), &said);
        };
        let at = |side, ticks| axes.at(lane, side, ticks);
        if let Some(side) = axes.side(slice.phase) {
            if let (Some(from), Some(to)) = (at(side, slice.from), at(side, slice.to)) {
                bar(from, to, 4.0, 13.0);
            }
            continue;
        }
        // Low power: a thin line to the one edge, and from the other.
        let gap = |other: &Option<Scale>| if other.is_some() { GAP / 4.0 } else { 0.0 };
        if let (Some(scale), Some(from)) = (down, at(0, slice.from)) {
            bar(from, scale.places.1 + gap(up), 9.0, 3.0);
        }
        if let (Some(scale), Some(to)) = (up, at(1, slice.to)) {
            bar(scale.places.0 - gap(down), to, 9.0, 3.0);
        }
    }
    if let Some(x) = lane.due.and_then(|due| axes.at(lane, 1, due)) {
        drawing.line("due", (x, y + 2.0), (x, y + 19.0));
    }
}

fn lanes(scenario: &Scenario) -> Vec<Lane<'_>> {
    let mut all = Vec::new();
    let is_parallel = scenario.id.is_parallel();
    for group in groups(scenario) {
        let wakes = group.iter();
        let wakes = wakes.filter_map(|it| Some(anchor(it.instants)?.saturating_add(it.shift)));
        let wake = wakes.min().unwrap_or(0);
        let mut lanes: Vec<(i64, Lane<'_>)> = Vec::new();
        for it in group {
            let slices = slices(it.instants);
            let Some(begin) = slices.first().map(|slice| slice.from) else {
                continue;
            };
            let shift = it.shift;
            let down = if is_parallel {
                shift.saturating_neg()
            } else {
                begin
            };
            let low = it.instants.at(Instant::Stamp(Stamp::EnterHwLowPwr));
            let lane = Lane {
                row: it.row,
                slices,
                zero: [down, wake.saturating_sub(shift)],
                due: it.instants.at(Instant::Due),
            };
            lanes.push((low.unwrap_or(begin).saturating_add(shift), lane));
        }
        lanes.sort_by_key(|(order, lane)| (*order, lane.row.cpu));
        all.extend(lanes.into_iter().map(|(_, lane)| lane));
    }
    if !is_parallel {
        all.sort_by_key(|lane| lane.row.cpu);
    }
    all
}

/// Returns the instant from which on a CPU wakes up.
fn anchor(instants: &Instants) -> Option<i64> {
    let turned_on = instants.at(Instant::TurnedOn);
    // One before the call is that which the sample needed.
    let turned_on = turned_on.filter(|at| instants.at(Instant::Before).is_some_and(|it| it < *at));
    let exit = || instants.at(Instant::Stamp(Stamp::ExitHwLowPwr));
    instants.at(Instant::Due).or(turned_on).or_else(exit)
}

/// Returns the names of both axes.
fn zeros(run: &LoggedRun, scenario: &Scenario) -> [String; 2] {
    let on = |row: &Row| row.shown.is_some_and(|it| it.at(Instant::Due).is_none());
    let zeros = match scenario.id.is_parallel() {
        true => ["the agreed start", "the first due wake-up"],
        false if scenario.rows.iter().any(on) => ["the call", "the due wake-up, or CPU_ON"],
        false => ["the call", "the due wake-up"],
    };
    zeros.map(|zero| format!("{} from {zero}", run.unit()))
}

/// Returns the scales of both sides, each as wide as its time.
fn scales(extents: [Option<(f64, f64)>; 2]) -> [Option<Scale>; 2] {
    let [Some(down), Some(up)] = extents else {
        return extents.map(|it| Some(Scale::linear(it?, (LEFT, EDGE))));
    };
    let (a, b) = (down.1 - down.0, up.1 - up.0);
    let share = if a + b > 0.0 { a / (a + b) } else { 0.5 };
    let middle = LEFT + (EDGE - LEFT - GAP) * share.clamp(LEAST, 1.0 - LEAST);
    let down = Scale::linear(down, (LEFT, middle));
    [Some(down), Some(Scale::linear(up, (middle + GAP, EDGE)))]
}
