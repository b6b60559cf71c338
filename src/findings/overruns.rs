//! Timer expiries that were missed.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::model::{Confidence, Finding, How, Kind, Measure, Point, Run, Scenario};
use crate::plan::ScenarioId;

/// Finds that more than a tenth of the expiries were overruns, so that the figures
/// are of too few. That is a result, and no failure.
pub(crate) fn overruns(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let all = |point: &Point| u64::from(point.figures.n) + point.lost;
    let has_many = |point: &&Point| {
        scenario.id == ScenarioId::TimerLatency
            && point.measure == Measure::Handler
            && point.lost * 10 > all(point)
    };
    let many = || scenario.points.iter().filter(has_many);
    // By the share: no stretch has 2^32 expiries.
    let worst = many().reduce(|worst, point| {
        if point.lost * all(worst) > worst.lost * all(point) {
            point
        } else {
            worst
        }
    })?;
    let how = match worst.how {
        How::Alone => "alone",
        How::All => "all CPUs at once",
    };
    let others = match many().count() - 1 {
        0 => String::new(),
        others => {
            format!(" More than a tenth was missed in {others} more of these tables' rows, too.")
        }
    };
    Some(Finding {
        kind: Kind::Overruns,
        sentence: format!(
            "Overruns: on CPU {} {} of {} expiries were missed ({how}, {}); min, median and max \
             are of the others only.{others}",
            run.label(worst.cpu),
            worst.lost,
            all(worst),
            worst.variant.word()
        ),
        cpus: many().map(|point| point.cpu).collect(),
        metrics: Vec::new(),
        confidence: Confidence::Counts,
    })
}
