//! How the flush grows with the amount of dirty data, and where it levels off.

use suite::findings::Subject;
use suite::measure::Metric;
use suite::model::{Finding, FindingKind, Run};
use suite::plan::Axis;

use super::curve_finding::{curve_finding, fit_text};
use crate::analysis::fit::{Curve, LevelingFit, curves, extent, is_level};
use crate::analysis::value_text::time;

/// How the flush grows with the amount of dirty data.
pub const DIRTY_FLUSH: FindingKind = FindingKind::new("dirty-flush");

/// Describes how the flush grows with the amount of dirty data, and where it levels off.
pub(super) fn dirty_flush(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    if scenario.id.axis() != Some(Axis::Bytes) {
        return Vec::new();
    }
    let curves = curves(scenario);
    // If the PMF flush figure is missing, use the figure that includes the flush.
    let metric = [Metric::CacheFlush, Metric::Powerdown]
        .into_iter()
        .find(|metric| curves.iter().any(|curve| curve.metric == *metric));
    curves
        .iter()
        .filter(|curve| Some(curve.metric) == metric)
        .filter_map(|curve| flushed(run, curve))
        .collect()
}

/// Describes one curve; None if there is no line through its points.
fn flushed(run: &Run, curve: &Curve<'_>) -> Option<Finding> {
    let points = curve.points(run.clock(), false);
    let LevelingFit { line, level } = LevelingFit::through(&points)?;
    let last = bytes(points.last()?.0);
    let extent = extent(&points)?;
    let from = time(run, extent.0);
    let to = time(run, extent.1);
    let text = if is_level(extent) {
        format!("does not depend on the amount of dirty data: {from} to {to} with up to {last}.")
    } else if !line.is_growth() {
        let fit = fit_text(run, &line);
        format!("does not scale linearly with the amount of dirty data: {from} to {to}. {fit}")
    } else {
        let slope = time(run, line.slope * 1024.0);
        let zero = time(run, line.at_zero.max(0.0));
        let end = match level {
            Some((end, level)) => {
                let end = bytes(end);
                let level = time(run, level);
                format!("{end}, and is {level} beyond that: the caches cannot hold more dirty data")
            }
            None => format!("{last}, the largest amount tried"),
        };
        let fit = fit_text(run, &line);
        format!("starts at {zero} and grows by {slope} per dirty KiB up to {end}. {fit}")
    };
    let variant = curve.variant.word();
    let name = curve.metric.heading();
    let sentence = format!("Dirty lines ({variant}): {name} {text}");
    Some(curve_finding(run, DIRTY_FLUSH, sentence, curve, &line))
}

/// Formats a size in KiB, or in bytes if it is smaller than 1 KiB.
fn bytes(value: f64) -> String {
    match value / 1024.0 {
        kib if kib >= 1.0 || value == 0.0 => format!("{kib:.0} KiB"),
        _ => format!("{value:.0} bytes"),
    }
}
