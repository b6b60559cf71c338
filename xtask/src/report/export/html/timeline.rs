//! Time lines: a lane a CPU, before low power and behind it.
//!
//! Low power itself is as long as the payload chose, and would leave no room
//! for what is measured: it is cut out, and the two sides have axes of their
//! own.

use psci_bench::model::{Instant, Instants, Row, Scenario};
use psci_bench::spec::pmf::Stamp;

use super::chart::{AXIS, Anchor, Drawing, LANE, LEFT, Mark, RIGHT, Scale, WIDTH};
use crate::report::analysis::phases::{Phase, Placed, Side, Slice, groups, slices};
use crate::report::log::LoggedRun;

/// The gap between the two sides.
const GAP: f64 = 48.0;
/// The least part of the width that a side gets.
const LEAST: f64 = 0.3;

struct Lane<'r> {
    row: &'r Row,
    slices: Vec<Slice>,
    /// The ticks to subtract, before low power and behind it.
    zero: (i64, i64),
    /// When the wake-up was due.
    due: Option<i64>,
}

pub(super) fn figure(id: &str, run: &LoggedRun, scenario: &Scenario) -> Option<String> {
    let lanes = lanes(scenario);
    if lanes.is_empty() {
        return None;
    }
    let split = lanes.iter().any(|lane| {
        lane.slices
            .iter()
            .any(|it| it.phase.side() == Side::Between)
    });
    let is_down = |slice: &Slice| is_on(slice, Side::Down, split);
    let is_up = |slice: &Slice| is_on(slice, Side::Up, split);
    let down = extent(run, &lanes, |it| it.zero.0, is_down);
    let up = extent(run, &lanes, |it| it.zero.1, is_up);
    let (down, up) = sides(down, up)?;

    let top = 22.0;
    let bottom = top + LANE * lanes.len() as f64 + 4.0;
    let mut drawing = Drawing::new(bottom + AXIS);
    let names = zeros(run, scenario);
    for (scale, heading, name) in [(&down, "Going down", names.0), (&up, "Waking up", names.1)] {
        let Some(scale) = scale else { continue };
        if split {
            drawing.text(Anchor::Start, (scale.places.0, 14.0), heading);
        }
        drawing.horizontal(scale, (top, bottom), &name);
    }
    for (place, lane) in lanes.iter().enumerate() {
        let y = top + LANE * place as f64;
        draw_lane(&mut drawing, run, lane, (&down, &up), split, y);
    }
    let slices = || lanes.iter().flat_map(|lane| &lane.slices);
    let is_seen = |phase: Phase| slices().any(|it| it.phase == phase);
    let marks = Phase::ALL.into_iter().filter(|it| is_seen(it.0));
    let mut legend: Vec<Mark<'_>> = marks.map(|(phase, name)| (class(phase), name)).collect();
    if up.is_some() && lanes.iter().any(|lane| lane.due.is_some()) {
        legend.push(("due", "wake-up due"));
    }
    let order = order_text(scenario, &lanes);
    let said = format!(
        "What each of {} CPUs does, as bars along an axis of time in {}. {order}",
        lanes.len(),
        run.unit()
    );
    let title = format!("Time line of the samples shown. {order}");
    Some(drawing.figure(&format!("{id}-timeline"), &title, &said, &legend))
}

/// Returns true for a slice of this side; all are of going down without a split.
fn is_on(slice: &Slice, side: Side, split: bool) -> bool {
    match split {
        true => slice.phase.side() == side,
        false => side == Side::Down,
    }
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

fn draw_lane(
    drawing: &mut Drawing,
    run: &LoggedRun,
    lane: &Lane<'_>,
    (down, up): (&Option<Scale>, &Option<Scale>),
    split: bool,
    y: f64,
) {
    let label = run.run.label(lane.row.cpu).to_string();
    drawing.text(Anchor::End, (LEFT - 8.0, y + 15.0), &label);
    for slice in &lane.slices {
        let (scale, zero) = if is_on(slice, Side::Down, split) {
            (down, lane.zero.0)
        } else if is_on(slice, Side::Up, split) {
            (up, lane.zero.1)
        } else {
            low(drawing, run, lane, slice, (down, up), y);
            continue;
        };
        let Some(scale) = scale else { continue };
        let at = |ticks: i64| scale.at(units(run, ticks.saturating_sub(zero)));
        let span = run.clock().span(slice.to.abs_diff(slice.from));
        let said = format!("CPU {label}: {} {span}", slice.phase.name());
        let (from, to) = (at(slice.from), at(slice.to));
        let size = (to - from, 13.0);
        drawing.rect(class(slice.phase), (from, y + 4.0), size, &said);
    }
    if let (Some(due), Some(scale)) = (lane.due, up) {
        let x = scale.at(units(run, due.saturating_sub(lane.zero.1)));
        drawing.line("due", (x, y + 2.0), (x, y + 19.0));
    }
}

fn lanes(scenario: &Scenario) -> Vec<Lane<'_>> {
    let mut all = Vec::new();
    for group in groups(scenario) {
        let alone = group.len() == 1 && !scenario.id.is_parallel();
        let wake = group
            .iter()
            .filter_map(|it| Some(anchor(it.instants)?.saturating_add(it.shift)));
        let wake = wake.min().unwrap_or(0);
        let mut lanes: Vec<(i64, Lane<'_>)> = Vec::new();
        for Placed {
            row,
            instants,
            shift,
        } in group
        {
            let slices = slices(instants);
            let Some(begin) = slices.first().map(|slice| slice.from) else {
                continue;
            };
            let down = if alone { begin } else { shift.saturating_neg() };
            let zero = (down, wake.saturating_sub(shift));
            let low = instants.at(Instant::Stamp(Stamp::EnterHwLowPwr));
            let order = low.unwrap_or(begin).saturating_add(shift);
            let due = instants.at(Instant::Due);
            let lane = Lane {
                row,
                slices,
                zero,
                due,
            };
            lanes.push((order, lane));
        }
        lanes.sort_by_key(|(order, lane)| (*order, lane.row.cpu));
        all.extend(lanes.into_iter().map(|(_, lane)| lane));
    }
    if !scenario.id.is_parallel() {
        all.sort_by_key(|lane| lane.row.cpu);
    }
    all
}

/// From when on a CPU wakes up.
fn anchor(instants: &Instants) -> Option<i64> {
    let turned_on = instants.at(Instant::TurnedOn);
    // One before the call is that which the sample needed.
    let turned_on = turned_on.filter(|at| instants.at(Instant::Before).is_some_and(|it| it < *at));
    let exit = || instants.at(Instant::Stamp(Stamp::ExitHwLowPwr));
    instants.at(Instant::Due).or(turned_on).or_else(exit)
}

/// Returns the names of both axes.
fn zeros(run: &LoggedRun, scenario: &Scenario) -> (String, String) {
    let unit = run.unit();
    if scenario.id.is_parallel() {
        (
            format!("{unit} from the agreed start"),
            format!("{unit} from the first due wake-up"),
        )
    } else {
        let on = |row: &Row| row.shown.is_some_and(|it| it.at(Instant::Due).is_none());
        let or = if scenario.rows.iter().any(on) {
            ", or CPU_ON"
        } else {
            ""
        };
        (
            format!("{unit} from the call"),
            format!("{unit} from the due wake-up{or}"),
        )
    }
}

/// Returns ticks with a sign in the unit of tables.
fn units(run: &LoggedRun, ticks: i64) -> f64 {
    let value = super::chart::units(run, ticks.unsigned_abs());
    if ticks < 0 { -value } else { value }
}

/// The least and the greatest instant of some slices, in the unit of tables.
fn extent(
    run: &LoggedRun,
    lanes: &[Lane<'_>],
    zero: impl Fn(&Lane<'_>) -> i64,
    of: impl Fn(&Slice) -> bool,
) -> Option<(f64, f64)> {
    let mut all: Option<(f64, f64)> = None;
    for lane in lanes {
        for slice in lane.slices.iter().filter(|slice| of(slice)) {
            let at = |ticks: i64| units(run, ticks.saturating_sub(zero(lane)));
            let (from, to) = (at(slice.from), at(slice.to));
            // An axis begins at its zero, or before.
            let (least, most) = all.unwrap_or((0.0, to));
            all = Some((least.min(from), most.max(to)));
        }
    }
    all
}

type Sides = (Option<Scale>, Option<Scale>);

/// The scales of both sides, each as wide as its time.
fn sides(down: Option<(f64, f64)>, up: Option<(f64, f64)>) -> Option<Sides> {
    let right = WIDTH - RIGHT;
    Some(match (down, up) {
        (None, None) => return None,
        (Some(down), None) => (Some(Scale::linear(down, (LEFT, right))), None),
        (None, Some(up)) => (None, Some(Scale::linear(up, (LEFT, right)))),
        (Some(down), Some(up)) => {
            let (a, b) = (down.1 - down.0, up.1 - up.0);
            let share = if a + b > 0.0 { a / (a + b) } else { 0.5 };
            let room = right - LEFT - GAP;
            let middle = LEFT + room * share.clamp(LEAST, 1.0 - LEAST);
            (
                Some(Scale::linear(down, (LEFT, middle))),
                Some(Scale::linear(up, (middle + GAP, right))),
            )
        }
    })
}

/// Low power: a thin line to the one edge, and from the other.
fn low(
    drawing: &mut Drawing,
    run: &LoggedRun,
    lane: &Lane<'_>,
    slice: &Slice,
    (down, up): (&Option<Scale>, &Option<Scale>),
    y: f64,
) {
    let said = format!(
        "CPU {}: {} {}",
        run.run.label(lane.row.cpu),
        slice.phase.name(),
        run.clock().span(slice.to.abs_diff(slice.from))
    );
    let class = class(slice.phase);
    let mut bar = |from: f64, to: f64| {
        drawing.rect(class, (from, y + 9.0), (to - from, 3.0), &said);
    };
    if let Some(scale) = down {
        let from = scale.at(units(run, slice.from.saturating_sub(lane.zero.0)));
        bar(
            from,
            scale.places.1 + if up.is_some() { GAP / 4.0 } else { 0.0 },
        );
    }
    if let Some(scale) = up {
        let to = scale.at(units(run, slice.to.saturating_sub(lane.zero.1)));
        let from = scale.places.0 - if down.is_some() { GAP / 4.0 } else { 0.0 };
        bar(from, to);
    }
}

/// The class that colours a phase.
fn class(phase: Phase) -> &'static str {
    match phase {
        Phase::Call | Phase::Return | Phase::Called => "p-call",
        Phase::Entry | Phase::Firmware => "p-entry",
        Phase::Flush => "p-flush",
        Phase::Descent | Phase::TurnOff => "p-descent",
        Phase::LowPower | Phase::Asleep => "p-low",
        Phase::Wake | Phase::Resume | Phase::TurnOn => "p-wake",
    }
}
