//! Timer expiries that were missed.

use core::fmt::Write;

use crate::model::{How, Measure, Point, Run, TestReport};
use crate::plan::ScenarioId;

use super::item::{Found, item};

/// Says where so many expiries were overruns that the figures are of too few:
/// more than a tenth. That is a result, and no failure.
pub(crate) fn overruns(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    let all = |point: &Point| u64::from(point.figures.n) + point.lost;
    let has_many = |point: &&Point| {
        test.scenario == ScenarioId::TimerLatency
            && point.measure == Measure::Handler
            && point.lost * 10 > all(point)
    };
    let many = || test.points.iter().filter(has_many);
    // By the share: no stretch has 2^32 expiries.
    let Some(worst) = many().reduce(|worst, point| {
        if point.lost * all(worst) > worst.lost * all(point) {
            point
        } else {
            worst
        }
    }) else {
        return Ok(false);
    };
    item(out, &mut |prose| {
        write!(
            prose,
            "Overruns: on CPU {} {} of {} expiries were missed ({}, {}); min, median and max are \
             of the others only.",
            run.label(worst.cpu.into()),
            worst.lost,
            all(worst),
            match worst.how {
                How::Alone => "alone",
                How::All => "all CPUs at once",
            },
            worst.variant
        )?;
        match many().count() as u64 - 1 {
            0 => Ok(()),
            others => write!(
                prose,
                " More than a tenth was missed in {others} more of these tables' rows, too."
            ),
        }
    })?;
    Ok(true)
}
