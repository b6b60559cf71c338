//! Timer expiries that were missed.

use alloc::format;
use alloc::vec::Vec;

use super::words::Detail;
use crate::measure::Metric;
use crate::model::{Finding, How, Kind, Point, Run, Scenario};
use crate::plan::Procedure;

/// Timer expiries that were missed.
pub(super) const OVERRUNS: Kind = Kind::new("overruns");

/// Finds that more than a tenth of the expiries were overruns: a result, and no failure.
pub(super) fn find_overruns(run: &Run, scenario: &Scenario, _: Detail) -> Vec<Finding> {
    let all = |point: &Point| u64::from(point.figures.n) + point.lost;
    let has_many = |point: &&Point| {
        scenario.id.procedure() == Procedure::Timers
            && point.measure == Metric::Handler
            && point.lost * 10 > all(point)
    };
    let many = scenario.points.iter().filter(has_many);
    // By the share: no stretch has 2^32 expiries.
    let is_worse = |a: &Point, b: &Point| a.lost * all(b) > b.lost * all(a);
    let worst = many.clone();
    let worst = worst.reduce(|worst, it| if is_worse(it, worst) { it } else { worst });
    let Some(worst) = worst else {
        return Vec::new();
    };
    let is_alone = worst.how == How::Alone;
    let how = if is_alone {
        "alone"
    } else {
        "all CPUs at once"
    };
    let (cpu, lost, all) = (run.label(worst.cpu), worst.lost, all(worst));
    let word = worst.variant.word();
    let sentence = format!(
        "Overruns: on CPU {cpu} {lost} of {all} expiries were missed ({how}, {word}); min, median \
         and max are of the others only."
    );
    let cpus = many.map(|point| point.cpu);
    [Finding::by_counts(OVERRUNS, sentence, cpus)].into()
}
