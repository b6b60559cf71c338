//! The lines of `timer_latency`, in the layout that the `latency` programs of
//! real-time extensions print, so that what reads theirs reads these.
//!
//! | line | what it has |
//! |---|---|
//! | `RTT` | time measured so far, and what is measured |
//! | `RTH` | headings |
//! | `RTD` | one window: least, mean and greatest latency to the handler, overruns, mode switches; least and greatest of the stretch so far |
//! | `RTS` | the same of the whole stretch; time measured / time asked for |
//!
//! Latencies are in microseconds with three decimals, or in ticks where the
//! counter's frequency is not known. There are no modes to switch between
//! here: that column is there for the layout, and always 0.

use core::fmt::{self, Write};

use super::run::Run;
use super::text::{Prose, fill, paragraph};
use crate::board::Cpu;
use crate::measure::{Account, Clock, Until};
use crate::model::{How, Measure, Point, TestReport};
use crate::plan::{Load, ScenarioId};

/// Data lines until the headings are said again.
const HEADINGS: u32 = 21;

/// How far a stretch has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The counter's, in Hz.
    pub frequency: u64,
    /// Ticks from one expiry to the next.
    pub period: u64,
    /// Expiries of each timer that were asked for.
    pub total: u32,
    /// Those of them that were dealt with, of each.
    pub done: u32,
    /// Data lines so far.
    pub lines: u32,
    /// What became of them all.
    pub all: Account,
}

impl Progress {
    fn clock(&self) -> Clock {
        Clock { hz: self.frequency }
    }

    /// So many expiries as hours, minutes and seconds.
    fn time(&self, expiries: u32) -> Time {
        let hz = self.clock().believed();
        // To the nearest: periods may be no part of a second.
        Time((self.period.saturating_mul(expiries.into()) + hz / 2) / hz)
    }
}

/// Seconds, as `HH:MM:SS`.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (minutes, seconds) = (self.0 / 60, self.0 % 60);
        write!(f, "{:02}:{:02}:{seconds:02}", minutes / 60, minutes % 60)
    }
}

/// Says what is not done for want of DC ZVA.
pub(crate) fn without_zero(out: &mut dyn Write) -> fmt::Result {
    out.write_str(
        "  DC ZVA is prohibited here (DCZID_EL0.DZP): zero is left out, and mixed has plain stores \
         for it.\n",
    )
}

/// What stands behind the tables.
pub(crate) fn how_to_read(prose: &mut Prose<'_>) -> fmt::Result {
    prose.write_str(
        "Expiries are looked at in windows of a second at most, between which the timers stand \
         and a line is printed. Median and p99 may be 1/16 too small: they are the lower ends of \
         classes. Lost are overruns: expiries that had passed before their turn. Alone, the other \
         CPUs are on, and do what the variant says. The worst case may take hours to come. ",
    )
}

/// Says where so many expiries were overruns that the figures are of too few:
/// more than a tenth. That is a result, and no failure.
pub(crate) fn overruns(
    out: &mut dyn Write,
    run: &Run<'_>,
    test: &TestReport<'_>,
) -> Result<bool, fmt::Error> {
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
    paragraph(out, "* ", 2, &mut |prose| {
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

/// Begins a stretch: of one CPU alone, or of all.
pub(crate) fn begin(
    out: &mut dyn Write,
    progress: &Progress,
    cpu: Option<&Cpu>,
    load: Load,
) -> fmt::Result {
    let unit = if progress.clock().is_known() {
        "us"
    } else {
        "ticks"
    };
    write!(
        out,
        "RTT|  {}  (timer interrupt to handler in {unit}, ",
        progress.time(0)
    )?;
    match progress.clock().ns(progress.period) {
        Some(ns) => write!(out, "{} us", (ns + 500) / 1_000)?,
        None => write!(out, "{} ticks", progress.period)?,
    }
    match cpu {
        Some(cpu) => writeln!(
            out,
            " period, CPU {:#x}, others {})",
            cpu.mpidr,
            load.word()
        )?,
        None => writeln!(out, " period, all CPUs, {})", load.word())?,
    }
    headings(out)
}

fn headings(out: &mut dyn Write) -> fmt::Result {
    out.write_str(
        "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n",
    )
}

/// Prints what one window of a second came to, the CPUs together.
pub(crate) fn window(out: &mut dyn Write, progress: &mut Progress, sum: &Account) -> fmt::Result {
    if progress.lines > 0 && progress.lines.is_multiple_of(HEADINGS) {
        headings(out)?;
    }
    progress.lines += 1;
    progress.all.merge(sum);
    figures(out, "RTD", progress, sum)?;
    let all = progress.all.until(Until::Handler);
    for ticks in [all.least(), Some(all.max)] {
        out.write_char('|')?;
        latency(out, progress, ticks)?;
    }
    out.write_char('\n')
}

/// Ends a stretch.
pub(crate) fn end(out: &mut dyn Write, progress: &Progress) -> fmt::Result {
    out.write_str("---|-----------|-----------|-----------|--------|------|")?;
    fill(out, '-', 23)?;
    out.write_char('\n')?;
    figures(out, "RTS", progress, &progress.all)?;
    let (done, total) = (progress.time(progress.done), progress.time(progress.total));
    writeln!(out, "|    {done}/{total}")?;
    match progress.all.spurious {
        0 => Ok(()),
        spurious => writeln!(
            out,
            "  {} interrupts were signalled that were not there any more, or not yet.",
            u64::from(spurious)
        ),
    }
}

/// What both lines have.
fn figures(out: &mut dyn Write, name: &str, progress: &Progress, account: &Account) -> fmt::Result {
    out.write_str(name)?;
    let series = account.until(Until::Handler);
    out.write_char('|')?;
    latency(out, progress, series.least())?;
    out.write_char('|')?;
    mean(out, progress, series.sum, series.n)?;
    out.write_char('|')?;
    latency(out, progress, Some(series.max))?;
    write!(out, "|{:8}|{:6}", u64::from(account.overruns), 0u64)
}

fn latency(out: &mut dyn Write, progress: &Progress, ticks: Option<u64>) -> fmt::Result {
    mean(out, progress, ticks.unwrap_or(0), 1)
}

/// The `n`th part of so many ticks, in eleven columns.
fn mean(out: &mut dyn Write, progress: &Progress, ticks: u64, n: u32) -> fmt::Result {
    let n = u64::from(n.max(1));
    match progress.clock().ns(ticks) {
        Some(ns) => {
            let ns = ns / n;
            write!(out, "{:7}.{:03}", ns / 1_000, ns % 1_000)
        }
        None => write!(out, "{:11}", ticks / n),
    }
}
