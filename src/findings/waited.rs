//! Which wake-ups waited: the first CPUs to wake power their cluster up, and
//! those who come meanwhile wait for its lock.

use core::fmt::{self, Write};

use super::item::{Found, has_order, item, widen};
use super::limits;
use crate::model::{Label, Row, Run, TestReport};
use crate::spec::pmf::Stamp;
use crate::spec::prose::listed;
use crate::spec::ticks::Span;

/// Writes which wake-ups took far longer than the shortest of their round.
pub(crate) fn write(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    if !has_order(test) {
        return Ok(false);
    }
    let all = || {
        let rows = test.rows.iter();
        rows.filter_map(|row| Some((row.figures.wakeup?, row)))
    };
    let least = all().map(|it| it.0).min().unwrap_or(0);
    let limit = least.saturating_mul(limits::WAITED);
    let long = || all().filter(|it| it.0 > limit);
    let mut others = None;
    for (wakeup, _) in all().filter(|it| it.0 <= limit) {
        widen(&mut others, (wakeup, wakeup));
    }
    // Of equals the last, as the report has it.
    let (Some(others), Some((_, longest))) = (others, long().max_by_key(|it| it.0)) else {
        return Ok(false);
    };
    if least == 0 {
        return Ok(false);
    }
    let unit = run.unit();
    item(out, &mut |prose| {
        prose.write_str("Wake-ups that waited: CPU ")?;
        listed(
            prose,
            &mut long().map(|(wakeup, row)| Waited(run.label(row.cpu.into()), unit.span(wakeup))),
        )?;
        write!(prose, "; the others took {}.", unit.range(others))?;
        // Without one CPU's timestamps it may be that one.
        let known = all().all(|it| on_the_way_up(it.1).is_some());
        if let Some(own) = on_the_way_up(longest).filter(|_| known) {
            let up = all().filter_map(|it| on_the_way_up(it.1));
            let meet = up.filter(|it| it.0 < own.1 && own.0 < it.1);
            write!(
                prose,
                " Others on their way up at the same time as CPU {}, by timestamps: {}.",
                run.label(longest.cpu.into()),
                meet.count().saturating_sub(1) as u64
            )?;
        }
        Ok(())
    })?;
    Ok(true)
}

/// From EXIT_HW_LOW_PWR to EXIT_PSCI.
fn on_the_way_up(row: &Row) -> Option<(u64, u64)> {
    let stamps = row.shown?.stamps;
    let (from, to) = (stamps.at(Stamp::ExitHwLowPwr), stamps.at(Stamp::ExitPsci));
    (from != 0 && to != 0).then_some((from, to))
}

/// A CPU, and what its wake-up took.
struct Waited(Label, Span);

impl fmt::Display for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0, self.1)
    }
}
