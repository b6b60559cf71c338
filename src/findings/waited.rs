//! Wake-ups that waited: the first CPUs to wake power their cluster up, and those
//! that wake meanwhile wait for its lock.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::detail::Detail;
use super::words;
use crate::measure::Metric;
use crate::model::{Confidence, Finding, Instant, Kind, Row, Run, Scenario};
use crate::spec::pmf::Stamp;

/// A wake-up is called one that waited where it took more than this many times the
/// least of its round.
const WAITED: u64 = 3;

/// Finds the wake-ups that took far longer than the shortest of their round.
pub(crate) fn waited(run: &Run, scenario: &Scenario, detail: Detail) -> Option<Finding> {
    let has_figures = detail.is_full() && scenario.has_pmf() && scenario.id.is_parallel();
    if !scenario.has_order() && !has_figures {
        return None;
    }
    let rows = scenario.rows.iter();
    let all: Vec<_> = rows
        .filter_map(|row| Some((row.figures.wakeup?, row)))
        .collect();
    let least = all.iter().map(|it| it.0).min().filter(|least| *least > 0)?;
    let limit = least.saturating_mul(WAITED);
    let (long, others): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.0 > limit);
    let longest = long.iter().max_by_key(|it: &&(u64, &Row)| it.0)?.1;
    let unit = run.clock();
    let each = long.iter();
    let each = each.map(|it| format!("{} ({})", run.label(it.1.cpu), unit.span(it.0)));
    let (each, others) = (
        words::list(each),
        words::range(others.iter().map(|it| it.0))?,
    );
    // Without one CPU's timestamps it may be that one.
    let up: Option<Vec<_>> = all.iter().map(|it| on_the_way_up(it.1)).collect();
    let (more, confidence) = if let (Some(up), Some(own)) = (up, on_the_way_up(longest)) {
        let meet = up.iter().filter(|it| it.0 < own.1 && own.0 < it.1).count();
        let (cpu, meet) = (run.label(longest.cpu), meet.saturating_sub(1));
        let more = format!(
            " Others on their way up at the same time as CPU {cpu}, by timestamps: {meet}."
        );
        (more, Confidence::Stamps)
    } else if detail.is_full() {
        let more = " The CPU that they waited for cannot be seen from figures alone.";
        (more.into(), Confidence::Figures)
    } else {
        (String::new(), Confidence::Figures)
    };
    Some(Finding {
        kind: Kind::Waited,
        sentence: format!(
            "Wake-ups that waited: CPU {each}; the others took {}.{more}",
            unit.range(others)
        ),
        cpus: all.iter().map(|it| it.1.cpu).collect(),
        metrics: vec![Metric::Wakeup],
        confidence,
    })
}

/// Returns the counter's values at EXIT_HW_LOW_PWR and EXIT_PSCI.
fn on_the_way_up(row: &Row) -> Option<(u64, u64)> {
    let at = |stamp| row.shown?.counter(Instant::Stamp(stamp));
    Some((at(Stamp::ExitHwLowPwr)?, at(Stamp::ExitPsci)?))
}
