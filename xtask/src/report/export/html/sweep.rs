//! A figure against what was varied: for each `x` how far the CPUs' samples
//! reach, the median that stands for them, and the line that fits best.

use std::fmt::Write;

use psci_bench::model::Scenario;
use psci_bench::plan::ScenarioId;

use super::chart::{Drawing, EDGE, Figure, HEIGHT, LEFT, Scale};
use crate::report::analysis::figure::{is_sorted_by_size, x_heading, x_text};
use crate::report::analysis::fit::{At, Bent, Series, series};
use crate::report::export::point_tables::{PointScale, how_text};
use crate::report::log::LoggedRun;

/// The room of a name at the horizontal axis.
const ROOM: f64 = 52.0;

pub(super) fn figures(id: &str, run: &LoggedRun, scenario: &Scenario) -> Vec<Figure> {
    // A power_state is a name, and no amount.
    if ![ScenarioId::DirtySweep, ScenarioId::ContendSweep].contains(&scenario.id) {
        return Vec::new();
    }
    let all = series(scenario);
    let all = all.iter().enumerate();
    all.filter_map(|(place, it)| figure(format!("{id}-sweep{}", place + 1), run, scenario, it))
        .collect()
}

/// Both axes of a drawing.
struct Axes {
    x: Scale,
    y: Scale,
    unit: PointScale,
    id: ScenarioId,
}

impl Axes {
    fn at(&self, x: f64) -> f64 {
        self.x.at(drawn_x(self.id, x))
    }
}

/// Returns the horizontal scale.
fn x_scale(id: ScenarioId, series: &Series<'_>) -> Option<Scale> {
    let (first, last) = (series.at.first()?.x as f64, series.at.last()?.x as f64);
    let positive = series.at.iter().map(|at| at.x).find(|x| *x > 0)? as f64;
    let [least, least_positive, most] = [first, positive, last].map(|x| drawn_x(id, x));
    let places = (LEFT + 12.0, EDGE);
    Some(match last / positive >= 20.0 {
        // Zero has no place among ratios: it is half the least.
        true if first == 0.0 => Scale::ratios((least_positive / 2.0, most), places),
        true => Scale::ratios((least, most), places),
        false => {
            let margin = (most - least) * 0.03;
            Scale::linear((least - margin, most + margin), places)
        }
    })
}

/// Returns bytes in KiB; other quantities as they are.
fn drawn_x(id: ScenarioId, x: f64) -> f64 {
    if id == ScenarioId::DirtySweep {
        x / 1024.0
    } else {
        x
    }
}

fn figure(id: String, run: &LoggedRun, scenario: &Scenario, series: &Series<'_>) -> Option<Figure> {
    let is_queue = is_sorted_by_size(scenario.id);
    let points: Vec<_> = series.at.iter().flat_map(|at| at.all.clone()).collect();
    let unit = PointScale::of(run.clock(), &points);
    let x = x_scale(scenario.id, series)?;
    let tops = points.iter().map(|it| unit.value(it, it.figures.max));
    let name = series.measure.heading();
    let heading = format!("{name} ({})", unit.name());
    let (mut drawing, y) = Drawing::of_values(tops.fold(0.0, f64::max), &heading);
    let (id_of, log) = (scenario.id, x.kind());
    let axes = Axes {
        x,
        y,
        unit,
        id: id_of,
    };
    let (x_name, by) = match x_heading(id_of) {
        "CPUs" => (
            format!("CPUs that go down at the same time{log}"),
            "the number of CPUs that go down at the same time",
        ),
        _ => (format!("dirty (KiB{log})"), "how much is dirty"),
    };
    drawing.marked(&axes.x, (HEIGHT, HEIGHT), &x_name, ticks(series, &axes));
    let fit = Bent::through(&series.points(run.clock(), is_queue));
    let (first, last) = (series.at.first()?.x, series.at.last()?.x);
    if let Some(fit) = &fit {
        drawing.path("fit", &fit_path(fit, &axes, (first as f64, last as f64)));
    }
    for at in &series.at {
        draw_at(&mut drawing, run, &axes, at, is_queue);
    }
    let median = match is_queue {
        true => "the longest median of a CPU",
        false => "the middle one of the CPUs' medians",
    };
    let mut legend = vec![
        ("range", "least to greatest sample of all CPUs".to_owned()),
        ("point", median.to_owned()),
    ];
    let mut said = format!(
        "{name} for {} values of {} from {} to {}, in {}.",
        series.at.len(),
        x_heading(id_of),
        x_text(id_of, first),
        x_text(id_of, last),
        unit.name()
    );
    if let Some(fit) = fit.map(|it| fit_text(&it, &axes)) {
        said += &format!(" {fit}.");
        legend.push(("fit", fit));
    }
    let (how, variant) = (how_text(series.how), series.variant.word());
    let title = format!("{name} by {by}, {how}, {variant}");
    Some(drawing.figure(id, title, said, legend))
}

/// Returns the line of best fit as far as it is above zero.
fn fit_path(fit: &Bent, axes: &Axes, (least, most): (f64, f64)) -> String {
    let mut path = String::new();
    let steps = (0..=240).map(|part| least + (most - least) * (f64::from(part) / 240.0).powi(3));
    for x in steps {
        let height = fit.at(x) / axes.unit.divisor();
        if height >= 0.0 {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            // A String takes all.
            let _ = write!(path, "{letter}{:.1} {:.1}", axes.at(x), axes.y.at(height));
        }
    }
    path
}

fn fit_text(fit: &Bent, axes: &Axes) -> String {
    if fit.line.slope == 0.0 {
        return "line of best fit: level".to_owned();
    }
    let (bytes, each) = match axes.id {
        ScenarioId::DirtySweep => (1024.0, "KiB"),
        _ => (1.0, "CPU"),
    };
    let slope = fit.line.slope / axes.unit.divisor() * bytes;
    let r2 = fit.line.r2 * 100.0;
    let digits = if slope.abs() < 1.0 { 4 } else { 2 };
    let unit = axes.unit.name();
    format!("line of best fit: {slope:.digits$} {unit} a {each}, R² {r2:.0} %")
}

/// Draws the range of all CPUs' samples at one `x`, and the median that stands for
/// them.
fn draw_at(drawing: &mut Drawing, run: &LoggedRun, axes: &Axes, at: &At<'_>, is_queue: bool) {
    let (place, unit) = (axes.at(at.x as f64), axes.unit);
    let low = at.all.iter().map(|it| unit.value(it, it.figures.min));
    let high = at.all.iter().map(|it| unit.value(it, it.figures.max));
    let (low, high) = (low.fold(f64::MAX, f64::min), high.fold(0.0, f64::max));
    let y = |value: f64| axes.y.at(value);
    drawing.line("range", (place, y(low)), (place, y(high)));
    for end in [low, high] {
        drawing.line("range", (place - 4.0, y(end)), (place + 4.0, y(end)));
    }
    if let Some(own) = at.typical(is_queue) {
        let median = unit.value(own, own.figures.median);
        let said = format!(
            "{} {}: CPU {}, median {median:.2} {}; samples of {} CPUs {low:.2} to {high:.2}",
            x_heading(axes.id),
            x_text(axes.id, at.x),
            run.run.label(own.cpu),
            unit.name(),
            at.all.len()
        );
        drawing.dot("point", (place, y(median)), true, &said);
    }
}

/// Returns names at the places that were measured, as many as there is room for.
fn ticks(series: &Series<'_>, axes: &Axes) -> Vec<(f64, String)> {
    let mut all: Vec<(f64, String)> = Vec::new();
    let mut taken = f64::MIN;
    for at in &series.at {
        let value = drawn_x(axes.id, at.x as f64);
        let place = axes.x.at(value);
        if place - taken < ROOM {
            continue;
        }
        taken = place;
        let label = match axes.id {
            ScenarioId::DirtySweep if value.fract() == 0.0 => format!("{value:.0}"),
            ScenarioId::DirtySweep => format!("{value:.2}"),
            id => x_text(id, at.x),
        };
        all.push((value, label));
    }
    all
}
