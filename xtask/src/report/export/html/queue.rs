//! Powerdown against the order of arrival, with the line that fits it best:
//! CPUs that go down at once wait for each other where the firmware has a
//! lock, and then each place costs a step. The points are what was measured; the
//! line leaves out what the last men's longer flushes make of it, as the finding
//! does.

use psci_bench::findings;
use psci_bench::measure::Line;
use psci_bench::model::Scenario;

use super::chart::{Drawing, EDGE, Figure, HEIGHT, LEFT, Scale, units};
use crate::report::log::LoggedRun;

/// With more CPUs than this, names of points would lie on each other.
const NAMED: usize = 20;

struct Arrival {
    at: u64,
    cpu: u16,
    cluster: u16,
    powerdown: u64,
}

pub(super) fn figure(id: &str, run: &LoggedRun, scenario: &Scenario) -> Option<Figure> {
    let arrivals = arrivals(run, scenario)?;
    let net = arrivals.iter().map(|it| (it.at, it.cpu, it.powerdown));
    let mut net: Vec<findings::Arrival> = net.collect();
    let long = findings::without_long_flushes(scenario, &mut net);
    let line = Line::through((0u64..).zip(net.iter().map(|it| it.2)))?;
    let value = |ticks| units(run, ticks);
    let most = arrivals.iter().map(|it| value(it.powerdown));
    let most = most.fold(0.0, f64::max);
    let count = arrivals.len();
    let heading = format!("Powerdown ({})", run.unit());
    let (mut drawing, y) = Drawing::of_values(most, &heading);
    let x = Scale::linear((0.5, count as f64 + 0.5), (LEFT, EDGE));
    let ticks = x.ticks(78.0).into_iter().map(|it| it.0);
    let ticks = ticks.filter(|value| value.fract() == 0.0);
    let ticks = ticks.map(|value| (value, format!("{value:.0}"))).collect();
    let name = "place in the order of ENTER_HW_LOW_PWR";
    drawing.marked(&x, (HEIGHT, HEIGHT), name, ticks);

    // Through the middle of all points, as every line of least squares.
    let middle = (count as f64 + 1.0) / 2.0;
    let mean = net.iter().map(|it| value(it.2)).sum::<f64>() / count as f64;
    let slope = value(line.slope.unsigned_abs()) * if line.slope < 0 { -1.0 } else { 1.0 };
    let height = |x: f64| mean + slope * (x - middle);
    // No further than the axes reach.
    let places = (0..=200).map(|part| 0.5 + count as f64 * f64::from(part) / 200.0);
    let inside: Vec<f64> = places.filter(|x| height(*x) >= 0.0).collect();
    if let (Some(from), Some(to)) = (inside.first(), inside.last()) {
        let at = |place: f64| (x.at(place), y.at(height(place)));
        drawing.line("fit", at(*from), at(*to));
    }
    for (place, arrival) in arrivals.iter().enumerate() {
        let (at, height) = (x.at(place as f64 + 1.0), y.at(value(arrival.powerdown)));
        let mut after = arrivals.iter().skip(place + 1);
        let is_last = after.all(|other| other.cluster != arrival.cluster);
        let label = run.run.label(arrival.cpu).to_string();
        let mut said = format!("CPU {label}: {}", run.clock().span(arrival.powerdown));
        if is_last {
            said += &format!(", last man of cluster {}", arrival.cluster);
        }
        let class = if is_last { "last-man" } else { "point" };
        drawing.dot(class, (at, height), !is_last, &said);
        if count <= NAMED {
            drawing.text("middle", (at, height - 9.0), &label);
        }
    }
    let step = run.clock().span(line.slope.unsigned_abs());
    let sign = if line.slope < 0 { "-" } else { "" };
    let without = match long.is_empty() {
        true => "",
        false => ", without the longer cache flushes",
    };
    let r2 = line.r2_percent;
    let fit = format!("line of best fit{without}: {sign}{step} a place, R² {r2} %");
    let said = format!("{count} CPUs as points; {fit}.");
    let legend = vec![
        ("point", "a CPU".to_owned()),
        ("last-man", "the last man of his cluster".to_owned()),
        ("fit", fit),
    ];
    let title = "Powerdown against the order of arrival in low power".to_owned();
    Some(drawing.figure(format!("{id}-queue"), title, said, legend))
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
        })
    });
    let mut all: Vec<Arrival> = all.collect::<Option<_>>()?;
    all.sort_by_key(|it| (it.at, it.cpu));
    Some(all)
}
