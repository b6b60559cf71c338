//! Powerdown against the order of arrival, with the line that fits it best:
//! CPUs that go down at once wait for each other where the firmware has a
//! lock, and then each place costs a step. The points are what was measured; the
//! line leaves out what the last men's longer flushes make of it, as the finding
//! does.

use psci_bench::findings;
use psci_bench::measure::Line;
use psci_bench::model::Scenario;

use super::chart::{AXIS, Anchor, Drawing, LEFT, RIGHT, Scale, WIDTH, units};
use crate::report::log::LoggedRun;

const HEIGHT: f64 = 260.0;
/// With more CPUs than this, names of points would lie on each other.
const NAMED: usize = 20;

struct Arrival {
    at: u64,
    cpu: u16,
    cluster: u16,
    powerdown: u64,
    last_man: bool,
}

pub(super) fn figure(id: &str, run: &LoggedRun, scenario: &Scenario) -> Option<String> {
    let arrivals = arrivals(run, scenario)?;
    let mut net: Vec<findings::Arrival> = arrivals
        .iter()
        .map(|it| (it.at, it.cpu, it.powerdown))
        .collect();
    let long = findings::without_long_flushes(scenario, &mut net);
    let line = Line::through((0u64..).zip(net.iter().map(|it| it.2)))?;
    let value = |ticks| units(run, ticks);
    let most = arrivals
        .iter()
        .map(|it| value(it.powerdown))
        .fold(0.0, f64::max);
    let count = arrivals.len();
    let x = Scale::linear((0.5, count as f64 + 0.5), (LEFT, WIDTH - RIGHT));
    let y = Scale::linear((0.0, most * 1.08), (HEIGHT, 34.0));
    let mut drawing = Drawing::new(HEIGHT + AXIS);
    drawing.vertical(
        &y,
        (LEFT, WIDTH - RIGHT),
        &format!("Powerdown ({})", run.unit()),
    );
    drawing.counting(
        &x,
        (HEIGHT, HEIGHT),
        "place in the order of ENTER_HW_LOW_PWR",
    );

    // Through the middle of all points, as every line of least squares.
    let middle = (count as f64 + 1.0) / 2.0;
    let mean = net.iter().map(|it| value(it.2)).sum::<f64>() / count as f64;
    let slope = value(line.slope.unsigned_abs()) * if line.slope < 0 { -1.0 } else { 1.0 };
    // No further than the axes reach.
    let inside = |x: f64| mean + slope * (x - middle) >= 0.0;
    let ends: Vec<f64> = (0..=200)
        .map(|part| 0.5 + count as f64 * f64::from(part) / 200.0)
        .filter(|x| inside(*x))
        .collect();
    if let (Some(from), Some(to)) = (ends.first(), ends.last()) {
        let at = |place: f64| (x.at(place), y.at(mean + slope * (place - middle)));
        drawing.line("fit", at(*from), at(*to));
    }
    for (place, arrival) in arrivals.iter().enumerate() {
        let at = (x.at(place as f64 + 1.0), y.at(value(arrival.powerdown)));
        draw_arrival(&mut drawing, run, arrival, at, count <= NAMED);
    }
    let step = run.clock().span(line.slope.unsigned_abs());
    let sign = if line.slope < 0 { "-" } else { "" };
    let without = match long.is_empty() {
        true => "",
        false => ", without the longer cache flushes",
    };
    let fit = format!(
        "line of best fit{without}: {sign}{step} a place, R² {} %",
        line.r2_percent
    );
    let legend = [
        ("point", "a CPU"),
        ("last-man", "the last man of his cluster"),
        ("fit", &fit),
    ];
    let title = "Powerdown against the order of arrival in low power";
    let said = format!("{count} CPUs as points; {fit}.");
    Some(drawing.figure(&format!("{id}-queue"), title, &said, &legend))
}

fn draw_arrival(
    drawing: &mut Drawing,
    run: &LoggedRun,
    arrival: &Arrival,
    at: (f64, f64),
    is_named: bool,
) {
    let label = run.run.label(arrival.cpu).to_string();
    let (class, last) = match arrival.last_man {
        true => (
            "last-man",
            format!(", last man of cluster {}", arrival.cluster),
        ),
        false => ("point", String::new()),
    };
    let powerdown = run.clock().span(arrival.powerdown);
    let said = format!("CPU {label}: {powerdown}{last}");
    drawing.dot(class, at, !arrival.last_man, &said);
    if is_named {
        drawing.text(Anchor::Middle, (at.0, at.1 - 9.0), &label);
    }
}

/// Returns the CPUs in the order in which they went down, if all instants are known.
fn arrivals(run: &LoggedRun, scenario: &Scenario) -> Option<Vec<Arrival>> {
    if !scenario.has_order() {
        return None;
    }
    let rows = scenario.rows.iter();
    let all = rows.filter_map(|row| Some((row, row.figures.powerdown?)));
    let all = all.map(|(row, powerdown)| {
        Some(Arrival {
            at: row.went_down()?,
            cpu: row.cpu,
            cluster: run.run.cpu(row.cpu).cluster,
            powerdown,
            last_man: false,
        })
    });
    let mut all: Vec<Arrival> = all.collect::<Option<_>>()?;
    all.sort_by_key(|it| (it.at, it.cpu));
    for place in 0..all.len() {
        let (before, after) = all.split_at_mut(place + 1);
        if let Some(it) = before.last_mut() {
            it.last_man = after.iter().all(|other| other.cluster != it.cluster);
        }
    }
    Some(all)
}
