//! Draws a comparison's changes, with one bar for each figure, from the largest increase to the
//! largest decrease.

use hardware::text::plural::many;
use itertools::Itertools as _;

use super::chart::{Chart, Drawing, EDGE, Scale, legend};
use crate::analysis::compare::{Change, ChangeOutcome, ComparedScenario, Comparison};
use crate::export::compared_text::{percent_text, tolerance_text, value_text};
use crate::log::LoggedRun;

/// The space for labels.
const LEFT: f64 = 76.0;
/// The y coordinates of the largest increase and of the largest decrease.
const TOP: f64 = 10.0;
const BOTTOM: f64 = 140.0;
/// The minimum distance between two labels on the axis.
const LABEL_HEIGHT: f64 = 15.0;
/// The increases that the axis labels, in percent, if there is room. It also labels the decreases
/// that are equally far from no change.
const LABELS: [f64; 12] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 10_000.0,
];

/// A figure's change: its bar's length is the logarithm of the ratio, so that twice as long and half
/// as long are equally far from no change.
struct Bar<'c> {
    scenario: &'c ComparedScenario,
    change: &'c Change,
    /// Infinite if one of the figures is zero.
    length: f64,
}

/// Returns the chart; None for the cost of PMF, which is neither better nor worse.
pub(in crate::export) fn changes_chart(
    logged: &LoggedRun,
    comparison: &Comparison,
    id: String,
) -> Option<Chart> {
    if comparison.is_pmf_cost {
        return None;
    }
    let bars = bars(comparison);
    let tolerance = -(1.0 - f64::from(comparison.tolerance_ppm) / 1e6).ln();
    let longest = |sign: f64| {
        let lengths = bars.iter().map(|bar| sign * bar.length);
        lengths
            .filter(|length| length.is_finite())
            .fold(2.0 * tolerance.max(0.001), f64::max)
    };
    let ends = (-longest(-1.0), longest(1.0));
    let scale = Scale::linear(ends, (BOTTOM, TOP));
    // A change from or to zero is infinite, and as long as the axis.
    let y = |length: f64| scale.at(length.clamp(ends.0, ends.1));
    let mut drawing = Drawing::of_height(BOTTOM + 8.0);
    draw_axis(&mut drawing, &scale);
    let width = (EDGE - LEFT) / bars.len() as f64;
    for (index, bar) in bars.iter().enumerate() {
        let left = LEFT + width * index as f64;
        let [top, bottom] = [y(bar.length.max(0.0)), y(bar.length.min(0.0))];
        let gap = if width > 4.0 { 1.0 } else { 0.0 };
        let size = (width - gap, (bottom - top).max(1.0));
        let class = format!("change-{}", bar.change.outcome.word());
        let description = description(logged, bar);
        drawing.rect(&class, (left, top), size, &description);
    }
    for length in [tolerance, -tolerance] {
        drawing.line("tolerance", (LEFT, y(length)), (EDGE, y(length)));
    }
    let counts = comparison.counts();
    let tolerance_name = format!("tolerance {}", tolerance_text(comparison.tolerance_ppm));
    let marks = legend([
        ("change-worse", "worse", counts.worse > 0),
        ("change-better", "better", counts.better > 0),
        ("change-same", "unchanged", counts.unchanged() > 0),
        ("tolerance", &tolerance_name, true),
    ]);
    let figures = many(bars.len(), "figure");
    let title = format!("Changes of {figures}, sorted (logarithmic)");
    let description = format!(
        "One bar for each of {figures}: {} worse, {} better, {} unchanged.",
        counts.worse,
        counts.better,
        counts.unchanged()
    );
    Some(drawing.figure(id, [title, description], marks))
}

/// Returns the bars of the changes that count, from the largest increase to the largest decrease.
fn bars(comparison: &Comparison) -> Vec<Bar<'_>> {
    let scenarios = comparison.scenarios.iter();
    let changes = scenarios.flat_map(|scenario| {
        scenario
            .changes()
            .iter()
            .map(move |change| (scenario, change))
    });
    let bars = changes.map(|(scenario, change)| {
        let ratio = change.new.figure / change.old.figure;
        let length = if change.delta() == 0.0 {
            0.0
        } else {
            ratio.ln()
        };
        Bar {
            scenario,
            change,
            length,
        }
    });
    bars.sorted_by(|one, other| other.length.total_cmp(&one.length))
        .collect()
}

/// Draws the axis. Labels that are too close to one that is nearer to no change are left out.
fn draw_axis(drawing: &mut Drawing, y: &Scale) {
    let middle = y.at(0.0);
    drawing.line("axis", (LEFT, middle), (EDGE, middle));
    drawing.text("end", (LEFT - 8.0, middle + 4.0), "0 %");
    for sign in [1.0, -1.0] {
        let mut last = middle;
        for percent in LABELS {
            let length = sign * (1.0 + percent / 100.0_f64).ln();
            let at = y.at(length);
            // Values beyond the end of the axis are at its end.
            let is_beyond = at == TOP || at == BOTTOM;
            if is_beyond || (at - last).abs() < LABEL_HEIGHT {
                continue;
            }
            last = at;
            drawing.line("grid", (LEFT, at), (EDGE, at));
            let label = format!("{:+.0} %", 100.0 * length.exp_m1());
            drawing.text("end", (LEFT - 8.0, at + 4.0), &label);
        }
    }
}

/// Returns a bar's tooltip.
fn description(logged: &LoggedRun, bar: &Bar<'_>) -> String {
    let Change { key, old, new, .. } = bar.change;
    let (clock, is_of_step) = (logged.clock(), key.is_of_step());
    let [old, new] = [old, new].map(|value| value_text(clock, is_of_step, value.figure));
    let unit = if is_of_step {
        key.scale(clock).name()
    } else {
        logged.unit()
    };
    let place = match bar.change.rank {
        Some(rank) => format!("place {}", rank + 1),
        None => format!("CPU {}", logged.run.label(bar.change.cpu)),
    };
    let outcome = match bar.change.outcome {
        ChangeOutcome::Same => "unchanged",
        outcome => outcome.word(),
    };
    format!(
        "{}, {}, {place}: {old} to {new} {unit}, {}, {outcome}",
        bar.scenario.key.id.short_tag(),
        key.in_sentence(),
        percent_text(bar.change.percent()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::compare::{Options, compare};
    use crate::analysis::synthetic::suite;

    /// Returns the y coordinate and the height of the bar whose tooltip contains `words`.
    fn bar(body: &str, words: &str) -> (f64, f64) {
        let line = body.lines().find(|line| line.contains(words)).expect(words);
        let value = |name: &str| {
            let (_, rest) = line.split_once(&format!(" {name}=\"")).expect(name);
            let (number, _) = rest.split_once('"').expect("a quote");
            number.parse().expect("a number")
        };
        (value("y"), value("height"))
    }

    #[test]
    fn a_change_from_zero_is_the_longest_increase_and_to_zero_the_longest_decrease() {
        let runs = [suite()];
        let mut comparison = compare(&runs, &suite(), &Options::default())
            .expect("comparable")
            .remove(0);
        let changes = &mut comparison.scenarios[0].by_order;
        changes.truncate(4);
        for (change, (old, new)) in changes.iter_mut().zip([
            (0.0, 77_000.0),
            (77_000.0, 0.0),
            (1000.0, 2000.0),
            (0.0, 0.0),
        ]) {
            (change.old.figure, change.new.figure) = (old, new);
        }
        comparison.scenarios.truncate(1);
        let chart = changes_chart(&runs[0], &comparison, "id".to_owned()).expect("a chart");
        let body = serde_json::to_value(&chart).expect("a map")["body"].to_string();
        let body = body.replace("\\n", "\n").replace("\\\"", "\"");
        let (from_zero, twice) = (bar(&body, "from zero"), bar(&body, "+100.00 %"));
        let (to_zero, still) = (bar(&body, "-100.00 %"), bar(&body, "0.00 to 0.00"));
        assert_eq!(from_zero.0, TOP);
        assert!(twice.0 == TOP && to_zero.0 > from_zero.0);
        assert_eq!(to_zero.0 + to_zero.1, BOTTOM);
        assert_eq!(still.1, 1.0);
    }
}
