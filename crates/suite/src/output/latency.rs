//! The `timer_latency` lines, in the layout used by the `latency` programs of real-time extensions,
//! so that the same tools can read them: `RTT` is the time so far, `RTH` the headings, `RTD` one
//! window and the totals so far, and `RTS` the final totals.
//!
//! Latencies are in microseconds with three decimal places, or in ticks if the counter's frequency
//! is unknown. The column for mode switches is always 0 and is present only for compatibility.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use hardware::board::Mpidr;
use hardware::text::plural::Many;
use run::measure::{Account, Until};
use run::model::Function;
use run::plan::Load;

use crate::scenario::progress::{Progress, Stretch};
use hardware::text::prose::paragraph;

/// The number of data lines after which the headings are repeated.
const HEADINGS: u32 = 21;

pub(crate) const HOW_TO_READ: &str = "Timers run in windows of at most a second, between which a \
    line is printed. The median and p99 may be up to 1/16 too low, \
    because they are the lower bounds of histogram bins. Overruns are expiries that had already \
    passed when the handler ran. If one CPU is measured alone, the other CPUs are on and run the \
    variant's load. ";

/// Writes the lines for a measurement in progress.
pub(crate) struct LatencyLines<'w> {
    pub(crate) out: &'w mut dyn Write,
}

impl Progress for LatencyLines<'_> {
    fn checking(&mut self, function: Function, x: Option<u32>) -> fmt::Result {
        match x {
            Some(x) => writeln!(self.out, "  {} {x:#010x} ...", function.name()),
            None => writeln!(self.out, "  {} ...", function.name()),
        }
    }

    fn without(&mut self, load: Load) -> fmt::Result {
        let text = match load {
            Load::Suspend => {
                "No power-down state keeps the CPUs' timers running: suspend is skipped."
            }
            Load::Idle
            | Load::Write
            | Load::Zero
            | Load::Nontemporal
            | Load::Clean
            | Load::Mixed
            | Load::Smc => {
                "DC ZVA is prohibited here (DCZID_EL0.DZP): zero is skipped, and mixed uses plain \
                 stores instead."
            }
        };
        paragraph(self.out, "  ", 2, &text)
    }

    fn begin(
        &mut self,
        stretch: &Stretch,
        cpu: Option<Mpidr>,
        other: Option<Mpidr>,
        load: Load,
    ) -> fmt::Result {
        let period = match stretch.clock().ns(stretch.period) {
            Some(ns) => format!("{} us", (ns + 500) / 1_000),
            None => format!("{} ticks", stretch.period),
        };
        let (time, load) = (time(stretch, 0), load.word());
        let cpus = match (cpu, other) {
            (Some(cpu), Some(other)) => format!("CPU {cpu}, CPU {other} {load}"),
            (Some(cpu), None) => format!("CPU {cpu}, others {load}"),
            (None, _) => format!("all CPUs, {load}"),
        };
        writeln!(
            self.out,
            "RTT|  {time}  (expiry to handler, {period} period, {cpus})"
        )?;
        headings(self.out)
    }

    fn window(&mut self, stretch: &Stretch, sum: &Account) -> fmt::Result {
        if stretch.windows > 1 && stretch.windows % HEADINGS == 1 {
            headings(self.out)?;
        }
        let all = stretch.all.until(Until::Handler);
        let [least, most] = [all.least().unwrap_or(0), all.max].map(|it| part(stretch, it, 1));
        writeln!(self.out, "RTD{}|{least}|{most}", figures(stretch, sum))
    }

    fn end(&mut self, stretch: &Stretch) -> fmt::Result {
        self.out.write_str(
            "---|-----------|-----------|-----------|--------|------|-----------------------\n",
        )?;
        let (done, total) = (time(stretch, stretch.done), time(stretch, stretch.total));
        let figures = figures(stretch, &stretch.all);
        writeln!(self.out, "RTS{figures}|    {done}/{total}")?;
        match stretch.all.spurious {
            0 => Ok(()),
            spurious => {
                let spurious = Many(spurious.into(), "spurious interrupt");
                writeln!(self.out, "  {spurious} occurred.")
            }
        }
    }
}

/// Returns the duration of `expiries` timer periods as `HH:MM:SS`.
fn time(stretch: &Stretch, expiries: u32) -> String {
    let hz = stretch.clock().believed();
    // Round to the nearest second, because a second may not be a multiple of the period.
    let seconds = (stretch.period.saturating_mul(expiries.into()) + hz / 2) / hz;
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!("{:02}:{:02}:{seconds:02}", minutes / 60, minutes % 60)
}

fn headings(out: &mut dyn Write) -> fmt::Result {
    out.write_str(
        "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n",
    )
}

fn figures(stretch: &Stretch, account: &Account) -> String {
    let series = account.until(Until::Handler);
    let least = part(stretch, series.least().unwrap_or(0), 1);
    let mean = part(stretch, series.sum, series.n);
    let most = part(stretch, series.max, 1);
    format!("|{least}|{mean}|{most}|{:8}|{:6}", account.overruns, 0)
}

/// Returns `ticks / n`, padded to eleven columns.
fn part(stretch: &Stretch, ticks: u64, n: u32) -> String {
    let n = u64::from(n.max(1));
    match stretch.clock().ns(ticks) {
        Some(ns) => {
            let ns = ns / n;
            format!("{:7}.{:03}", ns / 1_000, ns % 1_000)
        }
        None => format!("{:11}", ticks / n),
    }
}
