//! Plots Powerdown against arrival order, with the line of best fit. If the firmware takes a lock,
//! CPUs that go down at the same time wait for each other, and each position in the queue adds the
//! same delay. The points are the measured figures. As in the finding about the queue, the line
//! excludes the longer flushes of the last men, and is drawn only if the finding reports a queue.

use hardware::text::plural::many;
use suite::findings::LockQueue;

use crate::export::document::Charts;
use crate::export::drawing::{Chart, Drawing, EDGE, LEFT, Scale, legend};

/// With more CPUs than this, the point labels would overlap.
const NAMED: usize = 20;

pub(super) fn figure(charts: &Charts<'_>) -> Option<Chart> {
    let logged = charts.logged;
    let queue = LockQueue::fit(charts.scenario)?;
    let line = queue.line;
    let count = queue.arrivals.len();
    let powerdowns = queue.arrivals.iter().map(|arrival| arrival.powerdown);
    let highest = powerdowns.max().map_or(0.0, |ticks| charts.value(ticks));
    let heading = format!("Powerdown ({})", logged.unit());
    let (mut drawing, y) = Drawing::of_values(highest, &heading);
    let x = Scale::linear((0.5, count as f64 + 0.5), (LEFT, EDGE));
    let positions = (1..=count).map(|position| (position as f64, position.to_string()));
    drawing.bottom(
        &x,
        "position in ENTER_HW_LOW_PWR order",
        x.spaced(positions),
    );

    let mut fit = "no visible lock queue".to_owned();
    if queue.is_queue() {
        // A least-squares line always passes through the centroid of all points.
        let middle = (count as f64 + 1.0) / 2.0;
        let queued = queue.arrivals.iter().map(|arrival| arrival.queued);
        let mean = queued.map(|ticks| charts.value(ticks)).sum::<f64>() / count as f64;
        let ticks = line.slope.unsigned_abs();
        let fitted = (0..=200).map(|index| {
            let position = 0.5 + count as f64 * f64::from(index) / 200.0;
            let height = mean + charts.value(ticks) * (position - middle);
            (position, height)
        });
        drawing.fit(&x, &y, fitted);
        let without = if queue.long_flushes.is_empty() {
            ""
        } else {
            ", without the longer cache flushes"
        };
        let delay = logged.clock().span(ticks);
        let r2 = line.r2_percent;
        fit = format!("line of best fit{without}: {delay} per position, R² {r2} %");
    }
    draw_points(&mut drawing, charts, &queue, (&x, &y));
    let legend = legend([
        ("point", "a CPU", true),
        ("last-man", "the last man of its cluster", true),
        ("fit", &fit, queue.is_queue()),
    ]);
    let title = "Powerdown by order of entry into low power".to_owned();
    let texts = [title, format!("{} as points; {fit}.", many(count, "CPU"))];
    Some(drawing.figure(format!("{}-queue", charts.id), texts, legend))
}

/// Draws a point for each CPU. The last man of each cluster is marked.
fn draw_points(
    drawing: &mut Drawing,
    charts: &Charts<'_>,
    queue: &LockQueue,
    (x, y): (&Scale, &Scale),
) {
    let logged = charts.logged;
    let cluster = |cpu| logged.run.cpu(cpu).cluster;
    for (index, arrival) in queue.arrivals.iter().enumerate() {
        let cpu = arrival.cpu;
        let powerdown = arrival.powerdown;
        let left = x.at(index as f64 + 1.0);
        let height = y.at(charts.value(powerdown));
        let mut later = queue.arrivals.iter().skip(index + 1);
        let is_last = later.all(|other| cluster(other.cpu) != cluster(cpu));
        let label = logged.run.label(cpu).to_string();
        let mut description = format!("CPU {label}: {}", logged.clock().span(powerdown));
        if is_last {
            description += &format!(", last man of cluster {}", cluster(cpu));
        }
        let class = if is_last { "last-man" } else { "point" };
        drawing.dot(class, (left, height), !is_last, &description);
        if queue.arrivals.len() <= NAMED {
            drawing.text("middle", (left, height - 9.0), &label);
        }
    }
}
