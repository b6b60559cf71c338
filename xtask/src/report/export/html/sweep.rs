//! A figure against what was varied: for each `x` how far the CPUs' samples
//! reach, the median that stands for them, and the line that fits best.

use std::fmt::Write;

use psci_bench::model::{Scenario, Variant};
use psci_bench::plan::ScenarioId;

use super::chart::{AXIS, Drawing, LEFT, Mark, RIGHT, Scale, WIDTH};
use crate::report::analysis::figure::{is_sorted_by_size, x_heading, x_text};
use crate::report::analysis::fit::{Bent, Series, series};
use crate::report::export::point_tables::{PointScale, how_text};
use crate::report::log::LoggedRun;

const HEIGHT: f64 = 260.0;
/// The room of a name at the horizontal axis.
const ROOM: f64 = 52.0;

pub(super) fn figures(id: &str, run: &LoggedRun, scenario: &Scenario) -> Vec<String> {
    // A power_state is a name, and no amount.
    if ![ScenarioId::DirtySweep, ScenarioId::ContendSweep].contains(&scenario.id) {
        return Vec::new();
    }
    let all = series(scenario);
    let all = all.iter().enumerate();
    all.filter_map(|(place, it)| figure(&format!("{id}-sweep{}", place + 1), run, scenario, it))
        .collect()
}

fn figure(id: &str, run: &LoggedRun, scenario: &Scenario, series: &Series<'_>) -> Option<String> {
    let queue = is_sorted_by_size(scenario.id);
    let points: Vec<_> = series.at.iter().flat_map(|at| at.all.clone()).collect();
    let unit = PointScale::of(run.clock(), &points);
    let in_kib = scenario.id == ScenarioId::DirtySweep;
    let value_x = |x: f64| if in_kib { x / 1024.0 } else { x };
    let (least, most) = (series.at.first()?.x as f64, series.at.last()?.x as f64);
    let tops = points.iter().map(|it| unit.value(it, it.figures.max));
    let highest = tops.fold(0.0, f64::max);

    let (top, bottom) = (34.0, HEIGHT);
    let places = (LEFT + 12.0, WIDTH - RIGHT);
    let positive = series.at.iter().map(|at| at.x).find(|x| *x > 0)? as f64;
    let x = match most / positive >= 20.0 {
        // Nothing has no place among ratios: it is half the least.
        true if least == 0.0 => Scale::ratios((value_x(positive) / 2.0, value_x(most)), places),
        true => Scale::ratios((value_x(least), value_x(most)), places),
        false => {
            let margin = value_x(most - least) * 0.03;
            Scale::linear((value_x(least) - margin, value_x(most) + margin), places)
        }
    };
    let y = Scale::linear((0.0, highest * 1.08), (bottom, top));
    let name = series.measure.heading();
    let mut drawing = Drawing::new(bottom + AXIS);
    drawing.vertical(
        &y,
        (LEFT, WIDTH - RIGHT),
        &format!("{name} ({})", unit.name()),
    );
    let log = if x.is_log() { ", logarithmic" } else { "" };
    let x_name = match in_kib {
        true => format!("dirty (KiB{log})"),
        false => format!("{}{log}", x_name(scenario.id)),
    };
    drawing.marked(
        &x,
        (bottom, bottom),
        &x_name,
        ticks(series, scenario.id, &x, value_x),
    );

    // Least squares are of ns; the drawing may be in us.
    let scale = unit.divisor();
    let fit = Bent::through(&series.points(run.clock(), queue));
    if let Some(fit) = &fit {
        let steps =
            (0..=240).map(|part| least + (most - least) * (f64::from(part) / 240.0).powi(3));
        let mut path = String::new();
        for at in steps {
            let height = fit.at(at) / scale;
            if height >= 0.0 {
                let letter = if path.is_empty() { 'M' } else { 'L' };
                // A String takes all.
                let _ = write!(path, "{letter}{:.1} {:.1}", x.at(value_x(at)), y.at(height));
            }
        }
        drawing.path("fit", &path);
    }
    for at in &series.at {
        let place = x.at(value_x(at.x as f64));
        let ends = at.all.iter();
        let low = ends.clone().map(|it| unit.value(it, it.figures.min));
        let high = ends.map(|it| unit.value(it, it.figures.max));
        let (low, high) = (low.fold(f64::MAX, f64::min), high.fold(0.0, f64::max));
        drawing.line("range", (place, y.at(low)), (place, y.at(high)));
        for end in [low, high] {
            drawing.line("range", (place - 4.0, y.at(end)), (place + 4.0, y.at(end)));
        }
        if let Some(own) = at.typical(queue) {
            let median = unit.value(own, own.figures.median);
            let said = format!(
                "{} {}: CPU {}, median {median:.2} {}; samples of {} CPUs {low:.2} to {high:.2}",
                x_heading(scenario.id),
                x_text(scenario.id, at.x),
                run.run.label(own.cpu),
                unit.name(),
                at.all.len()
            );
            drawing.dot("point", (place, y.at(median)), true, &said);
        }
    }
    let median = match queue {
        true => "the longest median of a CPU",
        false => "the middle one of the CPUs' medians",
    };
    let fitted = fit.map(|it| {
        if it.line.slope == 0.0 {
            return "line of best fit: level".to_owned();
        }
        let slope = it.line.slope / scale * if in_kib { 1024.0 } else { 1.0 };
        let each = if in_kib { "KiB" } else { "CPU" };
        let r2 = it.line.r2 * 100.0;
        let digits = if slope.abs() < 1.0 { 4 } else { 2 };
        format!(
            "line of best fit: {slope:.digits$} {} a {each}, R² {r2:.0} %",
            unit.name()
        )
    });
    let mut legend = vec![
        Mark {
            class: "range",
            name: "least to greatest sample of all CPUs",
        },
        Mark {
            class: "point",
            name: median,
        },
    ];
    if let Some(name) = &fitted {
        legend.push(Mark { class: "fit", name });
    }
    let title = format!(
        "{name} by {}, {}{}",
        title(scenario.id),
        how_text(series.how),
        of(series.variant)
    );
    let said = format!(
        "{name} for {} values of {} from {} to {}, in {}.{}",
        series.at.len(),
        x_heading(scenario.id),
        x_text(scenario.id, series.at.first()?.x),
        x_text(scenario.id, series.at.last()?.x),
        unit.name(),
        fitted
            .as_ref()
            .map_or(String::new(), |it| format!(" {it}."))
    );
    Some(drawing.figure(id, &title, &said, &legend))
}

/// Names at the places that were measured, as many as there is room for.
fn ticks(
    series: &Series<'_>,
    id: ScenarioId,
    scale: &Scale,
    value_x: impl Fn(f64) -> f64,
) -> Vec<(f64, String)> {
    let mut all: Vec<(f64, String)> = Vec::new();
    let mut taken = f64::MIN;
    for at in &series.at {
        let value = value_x(at.x as f64);
        let place = scale.at(value);
        if place - taken < ROOM {
            continue;
        }
        taken = place;
        let label = match id {
            ScenarioId::DirtySweep if value.fract() == 0.0 => format!("{value:.0}"),
            ScenarioId::DirtySweep => format!("{value:.2}"),
            _ => x_text(id, at.x),
        };
        all.push((value, label));
    }
    all
}

fn x_name(id: ScenarioId) -> &'static str {
    match x_heading(id) {
        "CPUs" => "CPUs that go down at the same time",
        other => other,
    }
}

fn title(id: ScenarioId) -> &'static str {
    match x_heading(id) {
        "CPUs" => "the number of CPUs that go down at the same time",
        "Bytes" => "how much is dirty",
        other => other,
    }
}

fn of(variant: Variant) -> String {
    format!(", {}", variant.word())
}
