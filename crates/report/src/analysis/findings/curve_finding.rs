//! What the findings on a line through a curve's points have in common.

use hardware::text::plural::many;
use suite::model::{Evidence, Finding, FindingKind, FitQuality, Run};

use crate::analysis::fit::{Curve, LinearFit};
use crate::analysis::value_text::time;

/// Returns a finding based on a line through the points of a curve.
pub(super) fn curve_finding(
    run: &Run,
    kind: FindingKind,
    sentence: String,
    curve: &Curve<'_>,
    line: &LinearFit,
) -> Finding {
    let points = curve.points.iter().flat_map(|point| &point.series);
    let residual = line.residual.round() as u64;
    Finding {
        kind,
        sentence,
        cpus: points.map(|point| point.cell.cpu).collect(),
        metrics: Vec::new(),
        evidence: Evidence::Fit(FitQuality {
            n: u32::try_from(line.n).unwrap_or(u32::MAX),
            r2_percent: line.r2_percent(),
            residual_ns: run.clock().is_known().then_some(residual),
            by_stamps: false,
        }),
    }
}

/// Returns a sentence about how well a line fits.
pub(super) fn fit_text(run: &Run, line: &LinearFit) -> String {
    format!(
        "Straight line through {}: R² {} %, maximum deviation {}.",
        many(line.n, "point"),
        line.r2_percent(),
        time(run, line.residual)
    )
}
