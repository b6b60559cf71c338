//! Which figures a scenario shows, and what each CPU's figure is.

use arrayvec::ArrayVec;

use super::report::{Row, TestReport};
use crate::measure::{METRICS, Metric};
use crate::plan::ScenarioId;

/// The metrics that are shown as columns: PMF's where the firmware answers,
/// else those of the caller's side that any CPU has.
pub(crate) fn columns(test: &TestReport<'_>) -> ArrayVec<Metric, METRICS> {
    use Metric::{CacheFlush, Call, Latency, Powerdown, TurnOff, TurnOn, Wake, Wakeup};
    let candidates: &[Metric] = match (test.pmf, test.scenario) {
        (true, ScenarioId::PsciVersionParallel) => &[Latency],
        (true, _) => &[Powerdown, Wakeup, CacheFlush],
        (false, _) => &[TurnOff, TurnOn, Call, Wake],
    };
    let shown = |metric: &Metric| {
        test.rows
            .iter()
            .any(|row| figure(test, row, *metric).is_some())
    };
    let mut columns = ArrayVec::new();
    for metric in candidates.iter().copied().filter(shown) {
        // There is room for every metric.
        let _ = columns.try_push(metric);
    }
    columns
}

/// The figure that stands for `row`'s CPU, in ticks.
pub(crate) fn figure(test: &TestReport<'_>, row: &Row, metric: Metric) -> Option<u64> {
    match metric {
        Metric::Powerdown | Metric::Latency => row.figures.powerdown,
        Metric::Wakeup => row.figures.wakeup,
        Metric::CacheFlush => row.figures.cache_flush,
        // A parallel row is one part of one round, on either side.
        _ if test.scenario.is_parallel() => row.shown.and_then(|s| s.metric(metric, test.pmf)),
        _ => row.summary(metric).map(|s| s.median),
    }
}

/// A metric's name as a heading.
pub(crate) fn heading(metric: Metric) -> &'static str {
    match metric {
        Metric::Powerdown => "Powerdown",
        Metric::Wakeup => "Wakeup",
        Metric::CacheFlush => "Cache Flush",
        Metric::Latency => "Latency",
        Metric::Call => "Call",
        Metric::Wake => "Wake",
        Metric::TurnOff => "Turn Off",
        Metric::TurnOn => "Turn On",
        Metric::Lateness => "Lateness",
    }
}
