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
    let line = FittedLine::through((0u64..).zip(net.iter().map(|it| it.2)))?;
    let is_queue = findings::is_queue(line);
    let most = arrivals.iter().map(|it| charts.value(it.2));
    let (most, count) = (most.fold(0.0, f64::max), arrivals.len());
    let heading = format!("Powerdown ({})", run.unit());
    let (mut drawing, y) = Drawing::of_values(most, &heading);
    let x = Scale::linear((0.5, count as f64 + 0.5), (LEFT, EDGE));
    let places = x.spaced((1..=count).map(|it| (it as f64, it.to_string())));
    drawing.bottom(&x, "position in ENTER_HW_LOW_PWR order", places);

    let mut fit = "no visible lock queue".to_owned();
    if is_queue {
        // A least-squares line always passes through the centroid of all points.
        let middle = (count as f64 + 1.0) / 2.0;
        let mean = net.iter().map(|it| charts.value(it.2)).sum::<f64>() / count as f64;
        let ticks = line.slope.unsigned_abs();
        let steps = (0..=200).map(|part| 0.5 + count as f64 * f64::from(part) / 200.0);
        let height = |x| mean + charts.value(ticks) * (x - middle);
        drawing.fit(&x, &y, steps.map(|x| (x, height(x))));
        let without = ", without the longer cache flushes";
        let without = if long.is_empty() { "" } else { without };
        let (step, r2) = (run.clock().span(ticks), line.r2_percent);
        fit = format!("line of best fit{without}: {step} per position, R² {r2} %");
    }
    let cluster = |cpu| run.run.cpu(cpu).cluster;
    for (place, &(_, cpu, powerdown)) in arrivals.iter().enumerate() {
        let (at, height) = (x.at(place as f64 + 1.0), y.at(charts.value(powerdown)));
        let mut after = arrivals.iter().skip(place + 1);
        let is_last = after.all(|other| cluster(other.1) != cluster(cpu));
        let label = run.run.label(cpu).to_string();
        let mut said = format!("CPU {label}: {}", run.clock().span(powerdown));
        if is_last {
            said += &format!(", last man of cluster {}", cluster(cpu));
        }
        let class = if is_last { "last-man" } else { "point" };
        drawing.dot(class, (at, height), !is_last, &said);
        if count <= NAMED {
            drawing.text("middle", (at, height - 9.0), &label);
        }
    }
    let legend = legend([
        ("point", "a CPU", true),
        ("last-man", "the last man of its cluster", true),
        ("fit", &fit, is_queue),
    ]);
    let title = "Powerdown by order of entry into low power".to_owned();
    let texts = [title, format!("{} as points; {fit}.", many(count, "CPU"))];
    Some(drawing.figure(format!("{}-queue", charts.id), texts, legend))
}

/// Returns the CPUs in power-down order, if all instants are known.
fn arrivals(charts: &Charts<'_>) -> Option<Vec<Arrival>> {
    let cells = charts.scenario.suite_cells().iter();
    let cells = cells.filter_map(|cell| Some((cell, cell.figure(Metric::Powerdown)?)));
    let all = cells.map(|(cell, powerdown)| Some((cell.went_down()?, cell.cpu, powerdown)));
    let mut all: Vec<Arrival> = all.collect::<Option<_>>()?;
    all.sort_unstable();
    charts.scenario.has_order().then_some(all)
}
