//! Draws timelines: one lane per CPU, before and after low power.
//!
//! The time spent in low power is omitted: the payload determines its length, and drawing it would
//! leave no space for the measured phases. Each side has a separate axis.

use hardware::spec::pmf::Stamp;
use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::{Instant, Instants};
use suite::model::{Cell, Scenario};

use super::chart::{Chart, Drawing, EDGE, LANE, LEFT, Mark, Scale};
use crate::analysis::phases::{CpuPhase, PHASES, PowerSide, groups, slices};
use crate::export::document::Charts;
use crate::log::grouped::grouped;

const GAP: f64 = 48.0;
/// The minimum fraction of the width for each side.
const SHARE_MIN: f64 = 0.3;

/// A side (before or after low power) and an instant on its axis, in the unit of the tables.
type LaneEnd = (usize, f64);

struct Bar {
    phase: CpuPhase,
    ends: [LaneEnd; 2],
    said: String,
}

struct Lane<'r> {
    cell: &'r Cell,
    bars: Vec<Bar>,
    due: Option<LaneEnd>,
}

pub(super) fn figure(charts: &Charts<'_>) -> Option<Chart> {
    let (run, lanes) = (charts.run, lanes(charts));
    let scales = scales([0, 1].map(|side| extent(&lanes, side)));
    scales.iter().flatten().next()?;
    let top = 22.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, LANE, lanes.len());
    let headings = ["Going down", "Waking up"];
    let names = zeros(charts.scenario).map(|zero| format!("{} from {zero}", run.unit()));
    let bars = || lanes.iter().flat_map(|lane| &lane.bars);
    let has_low_power = bars().any(|bar| is_cut(bar.ends));
    for ((scale, heading), name) in scales.iter().zip(headings).zip(names) {
        let Some(scale) = scale else { continue };
        if has_low_power {
            drawing.text("start", (scale.ends.0, 14.0), heading);
        }
        drawing.horizontal(scale, (top, bottom), &name, scale.ticks(78.0));
    }
    for (index, lane) in lanes.iter().enumerate() {
        let y = top + LANE * index as f64;
        let label = run.run.label(lane.cell.cpu).to_string();
        drawing.text("end", (LEFT - 8.0, y + 15.0), &label);
        draw_lane(&mut drawing, &scales, lane, y);
    }
    let occurs = |phase: &CpuPhase| bars().any(|bar| bar.phase == *phase);
    let phases = PHASES.into_iter().filter(occurs);
    let mut legend: Vec<Mark> = grouped(phases.map(|phase| (phase.class, phase.name)))
        .into_iter()
        .map(|(class, names)| (class, names.join(", ")))
        .collect();
    if scales[1].is_some() && lanes.iter().any(|lane| lane.due.is_some()) {
        legend.push(("due", "wake-up due".to_owned()));
    }
    let (order, unit) = (order_text(charts.scenario), run.unit());
    let cpus = many(lanes.len(), "CPU");
    let said = format!("The phases of {cpus} on a time axis in {unit}. {order}");
    let title = format!("Timeline of the samples shown. {order}");
    Some(drawing.figure(format!("{}-timeline", charts.id), [title, said], legend))
}

fn order_text(scenario: &Scenario) -> &'static str {
    if !scenario.id.is_parallel() {
        "Each CPU has its own time axis, because the CPUs are measured one after another."
    } else if scenario
        .suite_cells()
        .iter()
        .any(|cell| cell.went_down().is_some())
    {
        "CPUs appear in the order in which they went down."
    } else {
        "CPUs appear in the order of their calls."
    }
}

fn is_cut(ends: [LaneEnd; 2]) -> bool {
    ends[0].0 != ends[1].0
}

fn draw_lane(drawing: &mut Drawing, scales: &[Option<Scale>; 2], lane: &Lane<'_>, y: f64) {
    let at = |(side, value): LaneEnd| Some(scales[side]?.at(value));
    for bar in &lane.bars {
        let [from, to] = bar.ends.map(at);
        let (from, to) = (from.unwrap_or(LEFT), to.unwrap_or(EDGE));
        // Low power is drawn as a thin line.
        let is_cut = is_cut(bar.ends);
        let (top, height) = if is_cut { (9.0, 3.0) } else { (4.0, 13.0) };
        let (corner, size) = ((from, y + top), (to - from, height));
        drawing.rect(bar.phase.class, corner, size, &bar.said);
    }
    if let Some(x) = lane.due.and_then(at) {
        drawing.line("due", (x, y + 2.0), (x, y + 19.0));
    }
}

fn lanes<'r>(charts: &Charts<'r>) -> Vec<Lane<'r>> {
    let (run, scenario) = (charts.run, charts.scenario);
    let is_parallel = scenario.id.is_parallel();
    let groups = groups(scenario);
    let has_low_power = groups
        .iter()
        .flatten()
        .flat_map(|placed| slices(placed.instants))
        .any(|slice| slice.phase.side == PowerSide::Between);
    let lanes = groups.iter().flat_map(|group| {
        let wakes = group.iter().filter_map(|placed| {
            let wake = anchor(placed.instants)?;
            Some(wake.saturating_add(placed.shift))
        });
        let first_wake = wakes.min().unwrap_or(0);
        group.iter().filter_map(move |placed| {
            let slices = slices(placed.instants);
            let begin = slices.first()?.from;
            let start = placed.shift.saturating_neg();
            let down = if is_parallel { start } else { begin };
            let zeros = [down, first_wake.saturating_sub(placed.shift)];
            let end = |side: usize, instant: i64| {
                let ticks = instant.saturating_sub(zeros[side]);
                let value = charts.value(ticks.unsigned_abs());
                (side, if ticks < 0 { -value } else { value })
            };
            let bars = slices.iter().map(|slice| {
                let sides = match slice.phase.side {
                    PowerSide::Up if has_low_power => [1, 1],
                    PowerSide::Between => [0, 1],
                    PowerSide::Down | PowerSide::Up => [0, 0],
                };
                let (phase, cpu) = (slice.phase, run.run.label(placed.cell.cpu));
                let span = run.clock().span(slice.to.abs_diff(slice.from));
                let said = format!("CPU {cpu}: {} {span}", phase.name);
                let ends = [end(sides[0], slice.from), end(sides[1], slice.to)];
                Bar { phase, ends, said }
            });
            let due = placed.instants.at(Instant::Due).map(|due| end(1, due));
            let went_down = placed.instants.at(Instant::Stamp(Stamp::EnterHwLowPwr));
            let order = if is_parallel {
                went_down.unwrap_or(begin).saturating_add(placed.shift)
            } else {
                0
            };
            let lane = Lane {
                cell: placed.cell,
                bars: bars.collect(),
                due,
            };
            Some((order, lane))
        })
    });
    lanes
        .sorted_by_key(|(order, lane)| (*order, lane.cell.cpu))
        .map(|(_, lane)| lane)
        .collect()
}

/// Returns the instant at which a CPU starts to wake up.
fn anchor(instants: &Instants) -> Option<i64> {
    let call = instants.at(Instant::Before);
    // A CPU_ON before the call only prepares the sample.
    let turned_on = instants
        .at(Instant::TurnedOn)
        .filter(|turned_on| call.is_some_and(|call| call < *turned_on));
    let exit = || instants.at(Instant::Stamp(Stamp::ExitHwLowPwr));
    instants.at(Instant::Due).or(turned_on).or_else(exit)
}

fn zeros(scenario: &Scenario) -> [&'static str; 2] {
    let is_turned_on = |cell: &Cell| {
        cell.shown
            .is_some_and(|instants| instants.at(Instant::Due).is_none())
    };
    if scenario.id.is_parallel() {
        ["the agreed start", "the first wake-up time"]
    } else if scenario.suite_cells().iter().any(is_turned_on) {
        ["the call", "the wake-up time, or CPU_ON"]
    } else {
        ["the call", "the wake-up time"]
    }
}

/// Returns the first and the last instant on a side, or None if it has no phases.
fn extent(lanes: &[Lane<'_>], side: usize) -> Option<(f64, f64)> {
    let bars = lanes.iter().flat_map(|lane| &lane.bars);
    let on_side = bars.filter(|bar| !is_cut(bar.ends) && bar.ends[0].0 == side);
    let values = on_side.flat_map(|bar| bar.ends).map(|(_, value)| value);
    let (least, most) = values.minmax().into_option()?;
    // An axis never starts after zero.
    Some((least.min(0.0), most))
}

/// Returns the scales of both sides, with widths proportional to their durations.
fn scales(extents: [Option<(f64, f64)>; 2]) -> [Option<Scale>; 2] {
    let [Some(down), Some(up)] = extents else {
        return extents.map(|extent| Some(Scale::linear(extent?, (LEFT, EDGE))));
    };
    let (down_length, up_length) = (down.1 - down.0, up.1 - up.0);
    let length = down_length + up_length;
    let share = if length > 0.0 {
        down_length / length
    } else {
        0.5
    };
    let middle = LEFT + (EDGE - LEFT - GAP) * share.clamp(SHARE_MIN, 1.0 - SHARE_MIN);
    [
        Some(Scale::linear(down, (LEFT, middle))),
        Some(Scale::linear(up, (middle + GAP, EDGE))),
    ]
}
