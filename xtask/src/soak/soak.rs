//! Runs, repeated: for faults that come once in many.
//!
//! A [`Runner`] runs, so that all of this is tested without a machine. A run that did not pass leaves its log, and every run its line;
//! at the end [`Totals`] says how many there were and what became of every
//! attempt ([`Account`]).

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use psci_bench::model::Verdict;

use super::account::Account;
use super::keep::Keep;
use super::totals::Totals;
use crate::qemu::run_result::RunResult;
use crate::qemu::stream::Ending;

/// The time of a soak without limits of its own.
pub const TIME: Duration = Duration::from_secs(600);

/// A machine that can be run again and again.
pub trait Runner {
    fn run(&mut self) -> Result<RunResult>;

    /// Returns the time since the soak began.
    fn elapsed(&self) -> Duration;
}

/// When it is enough; what comes first counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Limits {
    /// Begin no run after this time, such as 90s, 10m or 2h [default: 10m,
    /// unless there is --runs or --suspends].
    #[arg(long, value_name = "T", value_parser = parse_time)]
    pub time: Option<Duration>,
    /// Stop after so many runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Stop when so many CPU_SUSPENDs were attempted in all runs together,
    /// warm-ups aside.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub suspends: Option<u64>,
}

impl Limits {
    /// These, or [`TIME`] where there is none.
    pub fn or_default(self) -> Self {
        if self == Self::default() {
            let time = Some(TIME);
            return Self { time, ..self };
        }
        self
    }

    fn are_reached(&self, elapsed: Duration, totals: &Totals) -> bool {
        let suspends = totals.suspends.attempts();
        self.time.is_some_and(|time| elapsed >= time)
            || self.runs.is_some_and(|runs| totals.runs() >= runs)
            || self.suspends.is_some_and(|most| suspends >= most)
    }
}

/// Reads a time such as `90s`, `10m` or `2h`.
pub(super) fn parse_time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(format!(
            "{text:?} is no time: use a number and s, m or h, such as 90s, 10m or 2h"
        )),
    }
}

/// Has `runner` run until a limit is reached, an interruption ends a run, or
/// a run says that its input is bad, which the next one would say, too. A
/// line for each run and the totals go to `out` and to the summary in `keep`.
pub fn soak(
    runner: &mut dyn Runner,
    limits: &Limits,
    keep: &mut Keep,
    out: &mut dyn Write,
) -> Result<Totals> {
    let mut totals = Totals::default();
    let ran = repeat(runner, limits, keep, out, &mut totals);
    totals.elapsed = runner.elapsed();
    let text = format!(
        "\n{totals}\nlogs kept: {}, in {}",
        keep.logs,
        keep.dir().display()
    );
    let told = tell(&text, keep, out);
    ran.and(told).and(Ok(totals))
}

fn repeat(
    runner: &mut dyn Runner,
    limits: &Limits,
    keep: &mut Keep,
    out: &mut dyn Write,
    totals: &mut Totals,
) -> Result<()> {
    while !limits.are_reached(runner.elapsed(), totals) {
        let number = totals.runs() + 1;
        let result = runner.run()?;
        if result.ending == Ending::Interrupted {
            // The user's wish is nothing that the run did.
            return tell(
                &format!("run {number}: interrupted, not counted"),
                keep,
                out,
            );
        }
        let account = Account::of(&result.log);
        totals.add(&result, &account);
        tell(&line(number, &result, &account), keep, out)?;
        if result.verdict != Verdict::Pass {
            keep.log(number, &result)?;
        }
        if result.verdict == Verdict::BadInput {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the line of one run; more than a line if it did not end by
/// itself.
pub(super) fn line(number: u64, result: &RunResult, account: &Account) -> String {
    let seconds = result.elapsed.as_secs_f64();
    let mut line = format!("run {number}: {}, {seconds:.1} s", result.word());
    if let Some(totals) = &account.totals {
        line.push_str(&format!(
            ", {} samples, {} not counted",
            totals.samples, totals.rejected
        ));
    }
    match account.unexplained() {
        0 => {}
        count => line.push_str(&format!(", {count} without a known reason")),
    }
    if let Some(diagnosis) = &result.diagnosis {
        line.push_str(&format!(": {diagnosis}"));
    }
    for position in &result.positions {
        line.push_str(&format!("\n  {position}"));
    }
    line
}

/// Says `text` to who watches and to who comes later.
fn tell(text: &str, keep: &mut Keep, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{text}")?;
    out.flush()?;
    keep.note(text)
}
