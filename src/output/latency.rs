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

use crate::measure::{Account, Until};
use crate::plan::Load;
use crate::scenario::progress::{Progress, Stretch};
use crate::spec::prose::fill;

/// Data lines until the headings are said again.
const HEADINGS: u32 = 21;

/// Converts a number of expiries to hours, minutes and seconds.
fn time(stretch: &Stretch, expiries: u32) -> Time {
    let hz = stretch.clock().believed();
    // To the nearest: periods may be no part of a second.
    Time((stretch.period.saturating_mul(expiries.into()) + hz / 2) / hz)
}

/// Writes the lines of a stretch while it is measured.
pub(crate) struct Lines<'w>(pub(crate) &'w mut dyn Write);

impl Progress for Lines<'_> {
    fn without_zero(&mut self) -> fmt::Result {
        without_zero(self.0)
    }

    fn begin(&mut self, stretch: &Stretch, mpidr: Option<u64>, load: Load) -> fmt::Result {
        begin(self.0, stretch, mpidr, load)
    }

    fn window(&mut self, stretch: &mut Stretch, sum: &Account) -> fmt::Result {
        window(self.0, stretch, sum)
    }

    fn end(&mut self, stretch: &Stretch) -> fmt::Result {
        end(self.0, stretch)
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
fn without_zero(out: &mut dyn Write) -> fmt::Result {
    out.write_str(
        "  DC ZVA is prohibited here (DCZID_EL0.DZP): zero is left out, and mixed has plain stores \
         for it.\n",
    )
}

/// Explains the tables of `timer_latency`.
pub(crate) const HOW_TO_READ: &str = "Expiries are looked at in windows of a second at most, \
    between which the timers stand and a line is printed. Median and p99 may be 1/16 too small: \
    they are the lower ends of classes. Lost are overruns: expiries that had passed before their \
    turn. Alone, the other CPUs are on, and do what the variant says. The worst case may take \
    hours to come. ";

/// Begins a stretch: of one CPU alone, or of all.
fn begin(out: &mut dyn Write, stretch: &Stretch, mpidr: Option<u64>, load: Load) -> fmt::Result {
    let unit = if stretch.clock().is_known() {
        "us"
    } else {
        "ticks"
    };
    write!(
        out,
        "RTT|  {}  (timer interrupt to handler in {unit}, ",
        time(stretch, 0)
    )?;
    match stretch.clock().ns(stretch.period) {
        Some(ns) => write!(out, "{} us", (ns + 500) / 1_000)?,
        None => write!(out, "{} ticks", stretch.period)?,
    }
    match mpidr {
        Some(mpidr) => writeln!(out, " period, CPU {:#x}, others {})", mpidr, load.word())?,
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
fn window(out: &mut dyn Write, stretch: &mut Stretch, sum: &Account) -> fmt::Result {
    if stretch.lines > 0 && stretch.lines.is_multiple_of(HEADINGS) {
        headings(out)?;
    }
    stretch.lines += 1;
    stretch.all.merge(sum);
    figures(out, "RTD", stretch, sum)?;
    let all = stretch.all.until(Until::Handler);
    for ticks in [all.least(), Some(all.max)] {
        out.write_char('|')?;
        latency(out, stretch, ticks)?;
    }
    out.write_char('\n')
}

/// Ends a stretch.
fn end(out: &mut dyn Write, stretch: &Stretch) -> fmt::Result {
    out.write_str("---|-----------|-----------|-----------|--------|------|")?;
    fill(out, '-', 23)?;
    out.write_char('\n')?;
    figures(out, "RTS", stretch, &stretch.all)?;
    let (done, total) = (time(stretch, stretch.done), time(stretch, stretch.total));
    writeln!(out, "|    {done}/{total}")?;
    match stretch.all.spurious {
        0 => Ok(()),
        spurious => writeln!(
            out,
            "  {} interrupts were signalled that were not there any more, or not yet.",
            u64::from(spurious)
        ),
    }
}

/// Writes the columns of both lines.
fn figures(out: &mut dyn Write, name: &str, stretch: &Stretch, account: &Account) -> fmt::Result {
    out.write_str(name)?;
    let series = account.until(Until::Handler);
    out.write_char('|')?;
    latency(out, stretch, series.least())?;
    out.write_char('|')?;
    mean(out, stretch, series.sum, series.n)?;
    out.write_char('|')?;
    latency(out, stretch, Some(series.max))?;
    write!(out, "|{:8}|{:6}", u64::from(account.overruns), 0u64)
}

fn latency(out: &mut dyn Write, stretch: &Stretch, ticks: Option<u64>) -> fmt::Result {
    mean(out, stretch, ticks.unwrap_or(0), 1)
}

/// The `n`th part of so many ticks, in eleven columns.
fn mean(out: &mut dyn Write, stretch: &Stretch, ticks: u64, n: u32) -> fmt::Result {
    let n = u64::from(n.max(1));
    match stretch.clock().ns(ticks) {
        Some(ns) => {
            let ns = ns / n;
            write!(out, "{:7}.{:03}", ns / 1_000, ns % 1_000)
        }
        None => write!(out, "{:11}", ticks / n),
    }
}
