//! What a scenario's figures show, in sentences: only what the data says.
//!
//! Who was last comes from the order of timestamps, never from the size of a
//! figure: a large cache flush would otherwise be its own explanation. A
//! finding that lacks a CPU's timestamps is not printed.

use core::fmt::{self, Write};

use crate::measure::{REASONS, Reason};
use crate::model::{Run, TestReport, WakeSource, columns, figure, heading};
use crate::plan::ScenarioId;
use crate::spec::prose::{Many, Plural, Prose, listed};
use crate::spec::ticks::Hundredths;

use super::item::{Found, has_order, item, went_down, widen};
use super::limits::COARSE;

/// Writes what there is to say, as a list.
pub(crate) fn write(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> fmt::Result {
    let mut any = false;
    for finding in [
        wake_source,
        last_man,
        super::queue::write,
        super::waited::write,
        resolution,
        super::reached::write,
        not_counted,
        lost,
        super::overruns::overruns,
    ] {
        any |= finding(out, run, test)?;
    }
    if any { out.write_char('\n') } else { Ok(()) }
}

/// What woke the CPUs, where that is not as the header says.
fn wake_source(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    if test.wake_source == WakeSource::OwnTimers {
        return Ok(false);
    }
    let of_lead = helper_of_lead(run, test);
    // The others are turned on.
    let lead_alone = test.scenario == ScenarioId::CpuOffSerial;
    if lead_alone && test.wake_source == WakeSource::Helper && of_lead.is_none() {
        return Ok(false);
    }
    item(out, &mut |prose| {
        prose.write_str(if test.scenario.is_suite() {
            "The CPUs' own timers stop in this state: "
        } else {
            "In states that stop the CPUs' own timers: "
        })?;
        match (test.wake_source, test.helper) {
            (WakeSource::Frame, _) if lead_alone => {
                prose.write_str("the timer frame wakes the lead")?;
            }
            (WakeSource::Frame, _) => {
                prose
                    .write_str("the timer frame wakes the lead, and the lead the others, by SGI")?;
            }
            (_, Some(helper)) => write!(
                prose,
                "CPU {} stays awake and wakes the others by SGI; its cluster stays on",
                run.label(helper.into())
            )?,
            (_, None) if lead_alone => {}
            (_, None) => prose.write_str("the lead wakes each other CPU by SGI")?,
        }
        if let Some(helper) = of_lead {
            write!(
                prose,
                "{}CPU {} stays awake and wakes the lead",
                if lead_alone { "" } else { "; " },
                run.label(helper)
            )?;
            prose.write_str(if lead_alone { " by SGI" } else { "" })?;
        }
        if lead_alone {
            prose.write_str("; CPU_ON turns on each other CPU")?;
        }
        prose.write_str(".")
    })?;
    Ok(true)
}

/// The CPU that stays awake to wake the lead alone, by a row or a point of the lead.
fn helper_of_lead(run: &Run<'_>, test: &TestReport<'_>) -> Option<usize> {
    let lead = run.facts.lead;
    let mut rows = test.rows.iter().filter(|_| test.helper.is_none());
    let of_row = rows.find(|row| usize::from(row.cpu) == lead);
    let of_row = of_row.and_then(|row| row.helper).map(usize::from);
    let points = test.points.iter();
    let mut of_points = points.filter(|it| usize::from(it.cpu) == lead);
    of_row.or_else(|| of_points.find_map(|point| point.waker.helper()))
}

/// The last CPU of a cluster to go down, and the least and greatest cache
/// flush of the others.
struct LastMan {
    cpu: u16,
    flush: u64,
    others: Option<(u64, u64)>,
}

impl LastMan {
    /// None where a CPU of the cluster has no timestamps: it may be the one.
    fn of(run: &Run<'_>, test: &TestReport<'_>, cluster: u16) -> Option<Self> {
        let mut others = None;
        let mut last: Option<(u64, u16, u64)> = None;
        for row in test.rows {
            if run.cpu(row.cpu.into()).cluster != cluster {
                continue;
            }
            let this = (went_down(row)?, row.cpu, row.figures.cache_flush?);
            // Whoever is not the last of the two is one of the others.
            let (earlier, later) = match last {
                Some(last) if this.0 < last.0 => (Some(this), last),
                earlier => (earlier, this),
            };
            if let Some((_, _, flush)) = earlier {
                widen(&mut others, (flush, flush));
            }
            last = Some(later);
        }
        let (_, cpu, flush) = last?;
        Some(Self { cpu, flush, others })
    }
}

/// Who was the last man down in each cluster, and what his flush cost.
///
/// Only where the deepest level was asked for: at level 0 nobody is.
fn last_man(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    if !has_order(test) || test.scenario != ScenarioId::SuspendDeepParallel {
        return Ok(false);
    }
    let clusters = || {
        let heads = run.cluster_heads().map(|head| run.cpu(head).cluster);
        heads.filter_map(|cluster| Some((cluster, LastMan::of(run, test, cluster)?)))
    };
    let (mut count, mut flushes, mut others) = (0usize, None, None);
    for (_, last) in clusters() {
        count += 1;
        widen(&mut flushes, (last.flush, last.flush));
        if let Some(range) = last.others {
            widen(&mut others, range);
        }
    }
    let unit = run.unit();
    let end = |prose: &mut Prose<'_>, others: Option<(u64, u64)>| {
        if let Some(others) = others {
            write!(prose, "; the others' {}", unit.range(others))?;
        }
        prose.write_str(".")
    };
    match flushes {
        // One sentence for all: the tables have each.
        Some(flushes) if count > 8 => item(out, &mut |prose| {
            write!(
                prose,
                "Last men down in {count} clusters, by ENTER_HW_LOW_PWR: cache flush {}",
                unit.range(flushes)
            )?;
            end(prose, others)
        })?,
        _ => {
            for (cluster, last) in clusters() {
                item(out, &mut |prose| {
                    write!(
                        prose,
                        "Last man down in cluster {}, by ENTER_HW_LOW_PWR: CPU {}, \
                         cache flush {}",
                        u64::from(cluster),
                        run.label(last.cpu.into()),
                        unit.span(last.flush)
                    )?;
                    end(prose, last.others)
                })?;
            }
        }
    }
    Ok(count > 0)
}

/// Which figures are so few ticks that the tick itself shows.
fn resolution(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    let mut any = false;
    for metric in columns(test) {
        let mut ticks = None;
        for row in test.rows {
            if let Some(figure) = figure(test, row, metric).filter(|ticks| *ticks > 0) {
                widen(&mut ticks, (figure, figure));
            }
        }
        let Some((least @ ..COARSE, most)) = ticks else {
            continue;
        };
        item(out, &mut |prose| {
            write!(prose, "Resolution: {} is {least}", heading(metric))?;
            if most > least {
                write!(prose, " to {most}")?;
            }
            write!(prose, " {}", Plural(most, "tick"))?;
            if let Some(tick) = run.unit().0.tick_ps() {
                write!(prose, " of {} ns", Hundredths(tick / 10))?;
            }
            write!(
                prose,
                "; a tick more or less is {} % of the least.",
                100u64.checked_div(least).unwrap_or(0)
            )
        })?;
        any = true;
    }
    Ok(any)
}

/// Which attempts did not count, why and where.
fn not_counted(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    let mut totals = [0u64; REASONS];
    for row in test.rows {
        for (total, count) in totals.iter_mut().zip(row.rejected) {
            *total += u64::from(count);
        }
    }
    let all: u64 = totals.iter().sum();
    if all == 0 {
        return Ok(false);
    }
    // A companion is never the cause: it only shared the round.
    let first = test.rows.iter().find_map(|row| {
        let first = row.first_rejection?;
        (first.reason != Reason::Companion).then_some((row.cpu, first))
    });
    item(out, &mut |prose| {
        write!(prose, "Not counted: {}", Many(all, "attempt"))?;
        let mut mark = ": ";
        for (reason, total) in Reason::ALL.into_iter().zip(totals).filter(|r| r.1 > 0) {
            write!(prose, "{mark}{total} {} (CPU ", reason.key())?;
            let here = test.rows.iter().filter(|r| r.rejected[reason as usize] > 0);
            listed(prose, &mut here.map(|r| run.label(r.cpu.into())))?;
            prose.write_str(")")?;
            mark = ", ";
        }
        if let Some((cpu, first)) = first {
            write!(
                prose,
                "; the first on CPU {}: {first}",
                run.label(cpu.into())
            )?;
        }
        prose.write_str(".")
    })?;
    Ok(true)
}

/// Which CPUs were lost.
fn lost(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    let lost = || {
        test.rows
            .iter()
            .filter_map(|row| Some((row.cpu, row.lost?)))
    };
    let Some((cpu, loss)) = lost().next() else {
        return Ok(false);
    };
    let (label, mpidr) = (run.label(cpu.into()), run.cpu(cpu.into()).mpidr);
    item(out, &mut |prose| {
        write!(prose, "Lost: CPU {label} (MPIDR {mpidr:#x}): {loss}")?;
        if lost().nth(1).is_some() {
            prose.write_str("; and CPU ")?;
            let others = lost().skip(1);
            listed(prose, &mut others.map(|l| run.label(l.0.into())))?;
        }
        // Only CPU_ON that failed is sure to have left it off.
        prose.write_str(
            ". A CPU that is lost may be on, and keep up its cluster, so that others in it do \
             not flush it.",
        )
    })?;
    Ok(true)
}
