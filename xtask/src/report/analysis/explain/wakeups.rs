//! Which wake-ups waited: the first CPUs to wake power their cluster up, and
//! those who come meanwhile wait for its lock.

use psci_bench::findings::limits::WAITED;
use psci_bench::measure::Metric;
use psci_bench::spec::pmf::Stamp;

use super::finding::{Confidence, Finding, Kind, Side, basis};
use crate::report::model::words::{range, span};
use crate::report::model::{Point, Row, Run, Term, Test};

pub(super) fn waited(run: &Run, test: &Test) -> Vec<Finding> {
    if test.pmf == Some(false) || !test.is_parallel() {
        return Vec::new();
    }
    let wakeup = |row: &Row| row.figure(&Term::Known(Metric::Wakeup));
    let rows = test.rows.iter();
    let all: Vec<(u64, &Row)> = rows.filter_map(|row| Some((wakeup(row)?, row))).collect();
    let Some(least) = all.iter().map(|it| it.0).min().filter(|least| *least > 0) else {
        return Vec::new();
    };
    let (long, short): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|it| it.0 > least.saturating_mul(WAITED));
    if long.is_empty() {
        return Vec::new();
    }
    let named = long.iter().take(8);
    let named = named.map(|(ticks, row)| format!("{} ({})", run.label(row.cpu), span(run, *ticks)));
    let mut sentence = format!(
        "Wake-ups that waited: CPU {}",
        named.collect::<Vec<_>>().join(", ")
    );
    if long.len() > 8 {
        sentence.push_str(&format!(" and {} more", long.len() - 8));
    }
    let short = short.iter().map(|it| it.0);
    sentence.push_str(&format!("; the others took {}.", range(run, short)));
    let up: Option<Vec<_>> = all.iter().map(|it| on_the_way_up(it.1)).collect();
    let confidence = match up.zip(long.iter().max_by_key(|it| it.0)) {
        Some((up, longest)) => {
            let own = on_the_way_up(longest.1).unwrap_or_default();
            let meet = |it: &&(u64, u64)| it.0 < own.1 && own.0 < it.1;
            let others = up.iter().filter(meet).count().saturating_sub(1);
            sentence.push_str(&format!(
                " Others on their way up at the same time as CPU {}, by timestamps: {others}.",
                run.label(longest.1.cpu)
            ));
            Confidence::Stamps
        }
        None => {
            sentence.push_str(" For whom, can not be told from figures alone.");
            Confidence::Figures
        }
    };
    let row = |it: &(u64, &Row)| basis(Side::Run, run, test, it.1.cpu, Some(Metric::Wakeup));
    vec![Finding {
        kind: Kind::Waited,
        sentence,
        basis: all.iter().map(row).collect(),
        confidence,
    }]
}

/// From EXIT_HW_LOW_PWR to EXIT_PSCI, as the counter has it.
fn on_the_way_up(row: &Row) -> Option<(u64, u64)> {
    let event = row.event.as_ref()?;
    let at = |stamp| event.counter(Point::Stamp(stamp));
    Some((at(Stamp::ExitHwLowPwr)?, at(Stamp::ExitPsci)?))
}
