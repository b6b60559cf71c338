//! How Powerdown grows with the number of CPUs that go down together.

use hardware::text::plural::many;
use suite::findings::Subject;
use suite::measure::Metric;
use suite::model::{Finding, FindingKind, Run};
use suite::plan::Axis;

use super::curve_finding::{curve_finding, fit_text};
use crate::analysis::fit::{Curve, LinearFit, curves};
use crate::analysis::value_text::time;

/// How Powerdown grows with the number of CPUs that go down together.
pub const CONTENTION: FindingKind = FindingKind::new("contention");

/// Describes how Powerdown grows with the number of CPUs that go down together.
pub(super) fn contention(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    if scenario.id.axis() != Some(Axis::Cpus) {
        return Vec::new();
    }
    curves(scenario)
        .iter()
        .filter(|curve| curve.metric == Metric::Powerdown)
        .filter_map(|curve| contended(run, curve))
        .collect()
}

/// Describes one curve; None if there is no line through its points.
fn contended(run: &Run, curve: &Curve<'_>) -> Option<Finding> {
    let points = curve.points(run.clock(), true);
    let line = LinearFit::through(&points)?;
    let [from, to] = [points.first()?, points.last()?].map(|(cpu_count, figure)| {
        let cpus = many(*cpu_count as usize, "CPU");
        format!("{} with {cpus}", time(run, *figure))
    });
    let variant = curve.variant.word();
    let text = if line.is_growth() {
        let slope = time(run, line.slope);
        format!(
            "Contention ({variant}): the longest Powerdown grows by {slope} with each CPU that \
             goes down at the same time"
        )
    } else {
        format!(
            "No visible contention ({variant}): the longest Powerdown does not grow with the \
             number of CPUs that go down at the same time"
        )
    };
    let sentence = format!("{text} ({from}, {to}). {}", fit_text(run, &line));
    Some(curve_finding(run, CONTENTION, sentence, curve, &line))
}
