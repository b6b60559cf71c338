//! Plots a figure against the quantity that the sweep varies: for each `x`, the range of the CPUs'
//! samples and the representative median, with a line of best fit.

use hardware::text::plural::many;
use suite::model::FigureScale;
use suite::plan::{Amount, Axis};

use crate::analysis::figure::{axis_heading, axis_text, is_sorted_by_size};
use crate::analysis::fit::{Curve, CurvePoint, LevelingFit, curves};
use crate::export::document::Charts;
use crate::export::drawing::{Chart, Drawing, EDGE, LEFT, Scale, legend};

pub(super) fn figures(charts: &Charts<'_>) -> Vec<Chart> {
    let mut figures = Vec::new();
    let amount = match charts.scenario.id.axis() {
        // Offsets have a map (`race`).
        None | Some(Axis::Offset) => None,
        // A power_state is an identifier, not a quantity, so it has no amount.
        Some(axis) => axis.amount(),
    };
    if let Some(amount) = amount {
        for (index, curve) in curves(charts.scenario).iter().enumerate() {
            figures.extend(figure(charts, index + 1, curve, amount));
        }
    }
    figures
}

fn figure(charts: &Charts<'_>, number: usize, curve: &Curve<'_>, amount: Amount) -> Option<Chart> {
    let logged = charts.logged;
    let id = charts.scenario.id;
    let is_queue = is_sorted_by_size(id);
    let points = || curve.points.iter();
    let series = || points().flat_map(|point| &point.series);
    let unit = FigureScale::of_series(logged.clock(), *series().next()?);
    let per = f64::from(amount.unit);
    let axis_value = |value: u64| value as f64 / per;
    let first = curve.points.first()?.value;
    let last = curve.points.last()?.value;
    let positive = axis_value(points().find(|point| point.value > 0)?.value);
    // Zero cannot be shown on a logarithmic scale, so it is drawn at half the smallest value.
    let least = match first {
        0 if axis_value(last) / positive >= 20.0 => positive / 2.0,
        first => axis_value(first),
    };
    let x = Scale::fitting((least, axis_value(last)), (LEFT + 12.0, EDGE));
    let maximums = series().map(|series| series.series.summary.max);
    let highest = maximums.max().map_or(0.0, |figure| unit.value(figure));
    let heading = format!("{} ({})", curve.metric.heading(), unit.name());
    let (mut drawing, y) = Drawing::of_values(highest, &heading);
    let marks = points().map(|point| {
        let value = axis_value(point.value);
        (value, ((value * 100.0).round() / 100.0).to_string())
    });
    let label = format!("{}{}", amount.label, x.kind());
    drawing.bottom(&x, &label, x.spaced(marks));
    let fit = curve.growth(logged.clock(), id);
    if let Some(fit) = &fit {
        // More points are near the start, where a logarithmic scale is wider.
        let line = (0..=240).map(|index| {
            let share = (f64::from(index) / 240.0).powi(3);
            let value = axis_value(first) + axis_value(last - first) * share;
            (value, unit.from_programs(fit.at(value * per)))
        });
        drawing.fit(&x, &y, line);
    }
    for point in points() {
        let left = x.at(axis_value(point.value));
        draw_point(&mut drawing, charts, point, unit, (left, &y));
    }
    let median = if is_queue {
        "the longest median of any CPU"
    } else {
        "the median of the CPUs' medians"
    };
    let fit_text = match &fit {
        Some(fit) => fit_text(fit, unit, per, amount.unit_name),
        None => String::new(),
    };
    let legend = legend([
        ("range", "smallest to largest sample across all CPUs", true),
        ("point", median, true),
        ("fit", &fit_text, !fit_text.is_empty()),
    ]);
    let count = curve.points.len();
    let x_name = axis_heading(id);
    let description =
        format!("{heading} for {count} values of {x_name} from {first} to {last}. {fit_text}");
    let texts = [title(curve, amount), description.trim_end().to_owned()];
    Some(drawing.figure(format!("{}-sweep{number}", charts.id), texts, legend))
}

fn title(curve: &Curve<'_>, amount: Amount) -> String {
    let name = curve.metric.heading();
    let how = curve.cpus.text();
    let variant = curve.variant.word();
    format!("{name} by {}, {how}, {variant}", amount.title)
}

/// Draws the range of the samples for one value, and the typical median. `x` is their coordinate.
fn draw_point(
    drawing: &mut Drawing,
    charts: &Charts<'_>,
    point: &CurvePoint<'_>,
    unit: FigureScale,
    (x, y): (f64, &Scale),
) {
    let logged = charts.logged;
    let id = charts.scenario.id;
    let summaries = || point.series.iter().map(|series| &series.series.summary);
    let minimums = summaries().map(|summary| unit.value(summary.min));
    let maximums = summaries().map(|summary| unit.value(summary.max));
    let low = minimums.fold(f64::MAX, f64::min);
    let high = maximums.fold(0.0, f64::max);
    drawing.line("range", (x, y.at(low)), (x, y.at(high)));
    for end in [y.at(low), y.at(high)] {
        drawing.line("range", (x - 4.0, end), (x + 4.0, end));
    }
    if let Some(typical) = point.typical(is_sorted_by_size(id)) {
        let median = unit.value(typical.series.summary.median);
        let cpu = logged.run.label(typical.cell.cpu);
        let description = format!(
            "{} {}: CPU {cpu}, median {median:.2} {}; samples from {}: {low:.2} to {high:.2}",
            axis_heading(id),
            axis_text(id, point.value),
            unit.name(),
            many(point.series.len(), "CPU")
        );
        drawing.dot("point", (x, y.at(median)), true, &description);
    }
}

fn fit_text(fit: &LevelingFit, unit: FigureScale, per: f64, per_name: &str) -> String {
    let slope = unit.from_programs(fit.line.slope) * per;
    let unit = unit.name();
    let r2 = fit.line.r2_percent();
    let digits = if slope.abs() < 1.0 { 4 } else { 2 };
    format!("line of best fit: {slope:.digits$} {unit} per {per_name}, R² {r2} %")
}
