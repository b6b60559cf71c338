//! Plots Powerdown against arrival order, with the line of best fit. If the firmware takes a lock,
//! CPUs that go down at the same time wait for each other, and each position in the queue adds the
//! same delay. The points are the measured figures. As in the finding about the queue, the line
//! excludes the longer flushes of the last men, and is drawn only if the finding reports a queue.

use hardware::text::plural::many;
use suite::findings::{self, Arrival};
use suite::measure::{FittedLine, Metric};

use super::chart::{Chart, Drawing, EDGE, LEFT, Scale, legend};
use crate::export::document::Charts;

/// With more CPUs than this, the point labels would overlap.
const NAMED: usize = 20;

pub(super) fn figure(charts: &Charts<'_>) -> Option<Chart> {
    let (run, arrivals) = (charts.run, arrivals(charts)?);
    let mut net = arrivals.clone();
    let long = findings::without_long_flushes(charts.scenario, &mut net);
    let line = FittedLine::through((0u64..).zip(net.iter().map(|arrival| arrival.2)))?;
    let is_queue = findings::is_queue(line);
    let powerdowns = arrivals.iter().map(|arrival| charts.value(arrival.2));
    let (highest, count) = (powerdowns.fold(0.0, f64::max), arrivals.len());
    let heading = format!("Powerdown ({})", run.unit());
    let (mut drawing, y) = Drawing::of_values(highest, &heading);
    let x = Scale::linear((0.5, count as f64 + 0.5), (LEFT, EDGE));
    let positions = (1..=count).map(|position| (position as f64, position.to_string()));
    drawing.bottom(
        &x,
        "position in ENTER_HW_LOW_PWR order",
        x.spaced(positions),
    );

    let mut fit = "no visible lock queue".to_owned();
    if is_queue {
        // A least-squares line always passes through the centroid of all points.
        let middle = (count as f64 + 1.0) / 2.0;
        let net_powerdowns = net.iter().map(|arrival| charts.value(arrival.2));
        let mean = net_powerdowns.sum::<f64>() / count as f64;
        let ticks = line.slope.unsigned_abs();
        let positions = (0..=200).map(|part| 0.5 + count as f64 * f64::from(part) / 200.0);
        let height = |position| mean + charts.value(ticks) * (position - middle);
        drawing.fit(
            &x,
            &y,
            positions.map(|position| (position, height(position))),
        );
        let without = if long.is_empty() {
            ""
        } else {
            ", without the longer cache flushes"
        };
        let (delay, r2) = (run.clock().span(ticks), line.r2_percent);
        fit = format!("line of best fit{without}: {delay} per position, R² {r2} %");
    }
    draw_points(&mut drawing, charts, &arrivals, (&x, &y));
    let legend = legend([
        ("point", "a CPU", true),
        ("last-man", "the last man of its cluster", true),
        ("fit", &fit, is_queue),
    ]);
    let title = "Powerdown by order of entry into low power".to_owned();
    let texts = [title, format!("{} as points; {fit}.", many(count, "CPU"))];
    Some(drawing.figure(format!("{}-queue", charts.id), texts, legend))
}

/// Draws a point for each CPU. The last man of each cluster is marked.
fn draw_points(
    drawing: &mut Drawing,
    charts: &Charts<'_>,
    arrivals: &[Arrival],
    (x, y): (&Scale, &Scale),
) {
    let run = charts.run;
    let cluster = |cpu| run.run.cpu(cpu).cluster;
    for (index, &(_, cpu, powerdown)) in arrivals.iter().enumerate() {
        let (at, height) = (x.at(index as f64 + 1.0), y.at(charts.value(powerdown)));
        let mut later = arrivals.iter().skip(index + 1);
        let is_last = later.all(|other| cluster(other.1) != cluster(cpu));
        let label = run.run.label(cpu).to_string();
        let mut said = format!("CPU {label}: {}", run.clock().span(powerdown));
        if is_last {
            said += &format!(", last man of cluster {}", cluster(cpu));
        }
        let class = if is_last { "last-man" } else { "point" };
        drawing.dot(class, (at, height), !is_last, &said);
        if arrivals.len() <= NAMED {
            drawing.text("middle", (at, height - 9.0), &label);
        }
    }
}

/// Returns the CPUs in power-down order, if all instants are known.
fn arrivals(charts: &Charts<'_>) -> Option<Vec<Arrival>> {
    let cells = charts.scenario.suite_cells().iter();
    let mut arrivals: Vec<Arrival> = cells
        .filter_map(|cell| Some((cell, cell.figure(Metric::Powerdown)?)))
        .map(|(cell, powerdown)| Some((cell.went_down()?, cell.cpu, powerdown)))
        .collect::<Option<_>>()?;
    arrivals.sort_unstable();
    charts.scenario.has_order().then_some(arrivals)
}
