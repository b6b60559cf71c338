//! The `timer_latency` lines, in the layout of Xenomai's program `latency`, so that the same tools
//! can read them: `RTT` is the time so far, `RTH` the headings, `RTD` one window and the totals so
//! far, and `RTS` the final totals.
//!
//! Latencies are in microseconds with three decimal places, or in ticks if the counter's frequency
//! is unknown. The column for mode switches is always 0 and is present only for compatibility.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use crate::bench::windows::Measurement;
use crate::measure::{Account, DurationKind};
use hardware::spec::ticks::Clock;
use hardware::text::plural::Many;

/// The number of data lines after which the headings are repeated.
const HEADINGS: u32 = 21;

/// The progress of the timer measurement under one load.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimerMeasurement {
    /// The counter frequency, in Hz.
    pub(super) frequency: u64,
    /// Ticks from one expiry to the next.
    pub(super) period: u64,
    /// The number of expiries that the plan requests for each timer.
    pub(super) total: u32,
    /// The number of expiries that have passed.
    pub(super) done: u32,
    /// The number of windows measured so far.
    pub(super) windows: u32,
    /// The combined account for all CPUs.
    pub(super) all: Account,
}

impl TimerMeasurement {
    fn clock(&self) -> Clock {
        Clock { hz: self.frequency }
    }

    /// Prints the start of a measurement.
    pub(super) fn print_begin(&self, out: &mut dyn Write, measured: &Measurement) -> fmt::Result {
        let period = match self.clock().ns(self.period) {
            Some(ns) => format!("{} us", (ns + 500) / 1_000),
            None => format!("{} ticks", self.period),
        };
        let time = time(self, 0);
        writeln!(
            out,
            "RTT|  {time}  (expiry to handler, {period} period, {measured})"
        )?;
        headings(out)
    }

    /// Prints a window that `self` already includes; `sum` is the total for all CPUs.
    pub(super) fn print_window(&self, out: &mut dyn Write, sum: &Account) -> fmt::Result {
        if self.windows > 1 && self.windows % HEADINGS == 1 {
            headings(out)?;
        }
        let so_far = self.all.durations(DurationKind::Handler);
        let best = latency_text(self, so_far.least().unwrap_or(0), 1);
        let worst = latency_text(self, so_far.max, 1);
        writeln!(out, "RTD{}|{best}|{worst}", figures(self, sum))
    }

    /// Prints the final totals.
    pub(super) fn print_end(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str(
            "---|-----------|-----------|-----------|--------|------|-----------------------\n",
        )?;
        let (done, total) = (time(self, self.done), time(self, self.total));
        let figures = figures(self, &self.all);
        writeln!(out, "RTS{figures}|    {done}/{total}")?;
        match self.all.spurious {
            0 => Ok(()),
            spurious => {
                let spurious = Many(spurious.into(), "spurious interrupt");
                writeln!(out, "  {spurious} occurred.")
            }
        }
    }
}

/// Returns the duration of `expiries` timer periods as `HH:MM:SS`.
fn time(measurement: &TimerMeasurement, expiries: u32) -> String {
    let hz = measurement.clock().believed();
    // Round to the nearest second, because a second may not be a multiple of the period.
    let total = (measurement.period.saturating_mul(expiries.into()) + hz / 2) / hz;
    let (hours, minutes, seconds) = (total / 3_600, total / 60 % 60, total % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}")
}

/// Writes the headings of the `RTD` lines.
fn headings(out: &mut dyn Write) -> fmt::Result {
    out.write_str(
        "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n",
    )
}

/// Returns an account's part of a line.
fn figures(measurement: &TimerMeasurement, account: &Account) -> String {
    let series = account.durations(DurationKind::Handler);
    let least = latency_text(measurement, series.least().unwrap_or(0), 1);
    let mean = latency_text(measurement, series.sum, series.n);
    let most = latency_text(measurement, series.max, 1);
    format!("|{least}|{mean}|{most}|{:8}|{:6}", account.overruns, 0)
}

/// Returns `ticks / n`, padded to eleven columns.
fn latency_text(measurement: &TimerMeasurement, ticks: u64, n: u32) -> String {
    let divisor = u64::from(n.max(1));
    match measurement.clock().ns(ticks) {
        Some(sum) => {
            let ns = sum / divisor;
            format!("{:7}.{:03}", ns / 1_000, ns % 1_000)
        }
        None => format!("{:11}", ticks / divisor),
    }
}
