//! Repeats runs to find faults that occur only rarely.
//!
//! The log of a run that did not pass is kept. Each run adds a line to the summary. At the end,
//! [`SoakTotals`] summarizes the runs and the outcome of each attempt ([`SoakAccount`]). Tests
//! replace the machine with their own [`RunMachine`].

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use report::follow::stream::MachineEnding;
use run::model::Verdict;
use thiserror::Error;

use super::account::SoakAccount;
use super::keep::Keep;
use super::totals::SoakTotals;
use crate::qemu::run_result::RunResult;

/// The default duration of a soak.
pub const TIME: Duration = Duration::from_secs(600);

/// Runs the machine once more. Returns the time since the soak started, and the result of the run.
pub type RunMachine<'r> = dyn FnMut() -> Result<(Duration, RunResult)> + 'r;

/// The limits of a soak, which ends when the first one is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct SoakLimits {
    /// Start no new runs after this time [default: 10m].
    #[arg(long, value_name = "T", value_parser = parse_time)]
    pub time: Option<Duration>,
    /// Stop after N runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Stop after N attempted CPU_SUSPENDs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub suspends: Option<u64>,
}

impl SoakLimits {
    /// Returns these limits, or [`TIME`] if none are set.
    pub fn or_default(self) -> Self {
        if self == Self::default() {
            let time = Some(TIME);
            return Self { time, ..self };
        }
        self
    }

    fn are_reached(&self, totals: &SoakTotals) -> bool {
        let suspends = totals.account.suspends;
        self.time.is_some_and(|time| totals.elapsed >= time)
            || self.runs.is_some_and(|runs| totals.runs() >= runs)
            || self.suspends.is_some_and(|most| suspends >= most)
    }
}

/// A string that is not a duration.
#[derive(Debug, Error)]
#[error("{0:?} is not a duration: use a number and s, m or h, such as 90s, 10m or 2h")]
struct NotATime(String);

/// Parses a duration such as `90s`, `10m` or `2h`.
fn parse_time(text: &str) -> Result<Duration, NotATime> {
    match humantime::parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(NotATime(text.to_owned())),
    }
}

/// Repeats runs until a limit is reached, the user interrupts one, or a run rejects its input,
/// which the next run would reject too. Writes a line for each run, and the totals, to `out`
/// and to the summary in `keep`.
pub fn soak(
    run: &mut RunMachine<'_>,
    limits: &SoakLimits,
    keep: &mut Keep,
    out: &mut dyn Write,
) -> Result<SoakTotals> {
    let mut totals = SoakTotals::default();
    let ran = repeat(run, limits, keep, out, &mut totals);
    let (logs, dir) = (keep.logs, keep.dir().display());
    let text = format!("\n{totals}logs kept: {logs}, in {dir}");
    let written = write_both(&text, keep, out);
    ran.and(written).and(Ok(totals))
}

fn repeat(
    run: &mut RunMachine<'_>,
    limits: &SoakLimits,
    keep: &mut Keep,
    out: &mut dyn Write,
    totals: &mut SoakTotals,
) -> Result<()> {
    while !limits.are_reached(totals) {
        let number = totals.runs() + 1;
        let (elapsed, result) = run()?;
        totals.elapsed = elapsed;
        if result.ending == MachineEnding::Interrupted {
            // An interrupt is not a result of the run.
            let line = format!("run {number}: interrupted, not counted");
            return write_both(&line, keep, out);
        }
        let account = SoakAccount::of(&result.log);
        totals.add(&result, &account);
        write_both(&line(number, &result, &account), keep, out)?;
        if result.verdict != Verdict::Pass {
            keep.log(number, &result)?;
        }
        if result.verdict == Verdict::BadInput {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the line for one run, followed by the positions of the CPUs if the run did not end on
/// its own.
fn line(number: u64, result: &RunResult, account: &SoakAccount) -> String {
    let seconds = result.elapsed.as_secs_f64();
    let mut line = format!("run {number}: {}, {seconds:.1} s", result.word());
    if let Some(it) = &account.totals {
        line += &format!(", {} samples, {} not counted", it.samples, it.rejected);
    }
    let diagnosis = result.diagnosis.iter().map(|it| format!(": {it}"));
    let positions = result.positions.iter().map(|it| format!("\n  {it}"));
    line.extend(diagnosis.chain(positions));
    line
}

/// Writes `text` to `out` and to the summary.
fn write_both(text: &str, keep: &mut Keep, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{text}")?;
    out.flush()?;
    keep.note(text)
}
