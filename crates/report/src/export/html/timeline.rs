//! Draws timelines: one lane per CPU, before and after low power.
//!
//! The time spent in low power is omitted: the payload determines its length, and drawing it would
//! leave no space for the measured phases. Each side has a separate axis.

use hardware::spec::pmf::Stamp;
use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::{Instant, Instants};
use suite::model::{Cell, Scenario};

use crate::analysis::phases::{CpuPhase, PHASES, PlacedCell, PowerSide, Slice, groups, slices};
use crate::export::document::Charts;
use crate::export::drawing::{Chart, Drawing, EDGE, LANE, LEFT, Mark, Scale};
use crate::log::grouped::grouped;

const GAP: f64 = 48.0;
/// The minimum fraction of the width for each side.
const SHARE_MIN: f64 = 0.3;

struct Lane<'r> {
    placed_cell: PlacedCell<'r>,
    slices: Vec<Slice>,
    /// The instants at zero, before and after low power.
    zeros: [i64; 2],
}

impl Lane<'_> {
    /// Returns an instant on the axis of a side, in the unit of the tables.
    fn value(&self, charts: &Charts<'_>, side: usize, instant: i64) -> f64 {
        let ticks = instant.saturating_sub(self.zeros[side]);
        let value = charts.value(ticks.unsigned_abs());
        if ticks < 0 { -value } else { value }
    }

    fn due(&self) -> Option<i64> {
        self.placed_cell.instants.at(Instant::Due)
    }
}

pub(super) fn figure(charts: &Charts<'_>) -> Option<Chart> {
    let logged = charts.logged;
    let lanes = lanes(charts);
    let slices = || lanes.iter().flat_map(|lane| &lane.slices);
    let has_low_power = slices().any(is_cut);
    let scales = scales([0, 1].map(|side| extent(charts, &lanes, side, has_low_power)));
    scales.iter().flatten().next()?;
    let top = 22.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, LANE, lanes.len());
    let headings = ["Going down", "Waking up"];
    let names =
        zeros(charts.scenario).map(|zero_name| format!("{} from {zero_name}", logged.unit()));
    for ((scale, heading), name) in scales.iter().zip(headings).zip(names) {
        let Some(scale) = scale else { continue };
        if has_low_power {
            drawing.text("start", (scale.ends.0, 14.0), heading);
        }
        drawing.horizontal(scale, (top, bottom), &name, scale.ticks(78.0));
    }
    for (index, lane) in lanes.iter().enumerate() {
        let y = top + LANE * index as f64;
        let label = logged.run.label(lane.placed_cell.cell.cpu).to_string();
        drawing.text("end", (LEFT - 8.0, y + 15.0), &label);
        draw_slices(&mut drawing, charts, lane, (&scales, has_low_power), y);
        if let (Some(scale), Some(due)) = (scales[1], lane.due()) {
            let x = scale.at(lane.value(charts, 1, due));
            drawing.line("due", (x, y + 2.0), (x, y + 19.0));
        }
    }
    let occurs = |phase: &CpuPhase| slices().any(|slice| slice.phase == *phase);
    let phases = PHASES.into_iter().filter(occurs);
    let mut legend: Vec<Mark> = grouped(phases.map(|phase| (phase.class, phase.name)))
        .into_iter()
        .map(|(class, names)| (class, names.join(", ")))
        .collect();
    if scales[1].is_some() && lanes.iter().any(|lane| lane.due().is_some()) {
        legend.push(("due", "wake-up due".to_owned()));
    }
    let order = order_text(charts.scenario);
    let unit = logged.unit();
    let cpus = many(lanes.len(), "CPU");
    let description = format!("The phases of {cpus} on a time axis in {unit}. {order}");
    let title = format!("Timeline of the samples shown. {order}");
    Some(drawing.figure(
        format!("{}-timeline", charts.id),
        [title, description],
        legend,
    ))
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

/// Draws a lane's phases below `y`.
fn draw_slices(
    drawing: &mut Drawing,
    charts: &Charts<'_>,
    lane: &Lane<'_>,
    (scales, has_low_power): (&[Option<Scale>; 2], bool),
    y: f64,
) {
    let logged = charts.logged;
    let cpu = logged.run.label(lane.placed_cell.cell.cpu);
    for slice in &lane.slices {
        let [from_side, to_side] = sides(slice, has_low_power);
        let x = |side: usize, instant| Some(scales[side]?.at(lane.value(charts, side, instant)));
        let from = x(from_side, slice.from).unwrap_or(LEFT);
        let to = x(to_side, slice.to).unwrap_or(EDGE);
        // Low power is drawn as a thin line.
        let (top, height) = if is_cut(slice) {
            (9.0, 3.0)
        } else {
            (4.0, 13.0)
        };
        let span = logged.clock().span(slice.to.abs_diff(slice.from));
        let description = format!("CPU {cpu}: {} {span}", slice.phase.name);
        let corner = (from, y + top);
        let size = (to - from, height);
        drawing.rect(slice.phase.class, corner, size, &description);
    }
}

/// Returns true for the time in low power, of which the drawing leaves out a part.
fn is_cut(slice: &Slice) -> bool {
    slice.phase.side == PowerSide::Between
}

/// Returns the sides (0 before, 1 after low power) on which a phase starts and ends.
fn sides(slice: &Slice, has_low_power: bool) -> [usize; 2] {
    match slice.phase.side {
        PowerSide::Up if has_low_power => [1, 1],
        PowerSide::Between => [0, 1],
        PowerSide::Down | PowerSide::Up => [0, 0],
    }
}

/// Returns a lane for each CPU that has phases. In a parallel scenario, they are in the order in
/// which the CPUs went down.
fn lanes<'r>(charts: &Charts<'r>) -> Vec<Lane<'r>> {
    let is_parallel = charts.scenario.id.is_parallel();
    let mut lanes = Vec::new();
    for group in groups(charts.scenario) {
        let first_wake = first_wake(&group);
        for placed_cell in group {
            let shift = placed_cell.shift;
            let slices = slices(placed_cell.instants);
            let Some(begin) = slices.first().map(|slice| slice.from) else {
                continue;
            };
            let went_down = placed_cell
                .instants
                .at(Instant::Stamp(Stamp::EnterHwLowPwr));
            let (down, order) = if is_parallel {
                let order = went_down.unwrap_or(begin).saturating_add(shift);
                (shift.saturating_neg(), order)
            } else {
                (begin, 0)
            };
            let lane = Lane {
                placed_cell,
                slices,
                zeros: [down, first_wake.saturating_sub(shift)],
            };
            lanes.push((order, lane));
        }
    }
    lanes.sort_by_key(|(order, lane)| (*order, lane.placed_cell.cell.cpu));
    lanes.into_iter().map(|(_, lane)| lane).collect()
}

/// Returns when the first CPU of a group starts to wake up, or 0 if none does.
fn first_wake(group: &[PlacedCell<'_>]) -> i64 {
    let mut wakes = Vec::new();
    for placed_cell in group {
        if let Some(wake) = anchor(placed_cell.instants) {
            wakes.push(wake.saturating_add(placed_cell.shift));
        }
    }
    wakes.into_iter().min().unwrap_or(0)
}

/// Returns the instant at which a CPU starts to wake up.
fn anchor(instants: &Instants) -> Option<i64> {
    let call = instants.at(Instant::Before);
    // A CPU_ON before the call only prepares the sample.
    let turned_on = instants
        .at(Instant::TurnedOn)
        .filter(|turned_on_at| call.is_some_and(|call| call < *turned_on_at));
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
fn extent(
    charts: &Charts<'_>,
    lanes: &[Lane<'_>],
    side: usize,
    has_low_power: bool,
) -> Option<(f64, f64)> {
    let mut values = Vec::new();
    for lane in lanes {
        for slice in &lane.slices {
            if sides(slice, has_low_power) == [side, side] {
                values.push(lane.value(charts, side, slice.from));
                values.push(lane.value(charts, side, slice.to));
            }
        }
    }
    let (least, most) = values.into_iter().minmax().into_option()?;
    // An axis never starts after zero.
    Some((least.min(0.0), most))
}

/// Returns the scales of both sides, with widths proportional to their durations.
fn scales(extents: [Option<(f64, f64)>; 2]) -> [Option<Scale>; 2] {
    let [Some(down), Some(up)] = extents else {
        return extents.map(|extent| Some(Scale::linear(extent?, (LEFT, EDGE))));
    };
    let down_length = down.1 - down.0;
    let up_length = up.1 - up.0;
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
