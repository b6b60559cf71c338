//! Sums over all the runs in a soak.

use std::fmt;
use std::time::Duration;

use itertools::Itertools as _;
use run::model::Verdict;

use super::account::{FoundRecords, SoakAccount};
use crate::qemu::run_result::RunResult;

/// The sums over all the runs in a soak.
#[derive(Clone, Debug, Default)]
pub struct SoakTotals {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) refused: u64,
    pub(crate) incomplete: u64,
    pub(crate) samples: u64,
    /// The attempts in all runs, and the lost CPUs.
    pub(crate) account: SoakAccount,
    /// Runs without records, whose attempts are unknown.
    pub(crate) unrecorded: u64,
    /// Runs that lost some of their records.
    pub(crate) damaged: u64,
    /// The number of the slowest run, and how long it took.
    pub(crate) slowest: Option<(u64, Duration)>,
    pub(crate) elapsed: Duration,
}

impl SoakTotals {
    /// Returns the number of runs.
    pub fn runs(&self) -> u64 {
        self.passed + self.failed + self.refused + self.incomplete
    }

    /// Returns the exit code of the worst run, or that of an incomplete run if there were no runs.
    pub fn exit_code(&self) -> u8 {
        let verdict = match self {
            _ if self.failed > 0 => Verdict::Fail,
            _ if self.refused > 0 => Verdict::BadInput,
            _ if self.incomplete > 0 || self.passed == 0 => Verdict::Incomplete,
            _ => Verdict::Pass,
        };
        verdict.exit_code()
    }

    /// Adds a run.
    pub fn add(&mut self, result: &RunResult, account: &SoakAccount) {
        match result.verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Fail => self.failed += 1,
            Verdict::BadInput => self.refused += 1,
            Verdict::Incomplete => self.incomplete += 1,
        }
        self.samples += account.totals.map_or(0, |totals| totals.samples);
        self.account.suspends += account.suspends;
        for (reason, count) in &account.rejected {
            self.account.reject(reason, *count);
        }
        self.account.lost += account.lost;
        match account.records {
            FoundRecords::All => {}
            FoundRecords::Some => self.damaged += 1,
            FoundRecords::None => self.unrecorded += 1,
        }
        let slowest = self.slowest.filter(|it| it.1 >= result.elapsed);
        self.slowest = slowest.or(Some((self.runs(), result.elapsed)));
    }
}

impl fmt::Display for SoakTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.elapsed.as_secs_f64().max(1e-9) / 60.0;
        let rate = self.runs() as f64 / minutes;
        writeln!(
            f,
            "{} runs in {}, {rate:.1} a minute: {} PASS, {} FAIL, {} bad input, {} INCOMPLETE",
            self.runs(),
            humantime::format_duration(Duration::from_secs(self.elapsed.as_secs())),
            self.passed,
            self.failed,
            self.refused,
            self.incomplete
        )?;
        if let Some((number, time)) = self.slowest {
            writeln!(f, "slowest: run {number}, {:.1} s", time.as_secs_f64())?;
        }
        let (samples, account) = (self.samples, &self.account);
        let (suspends, lost) = (account.suspends, account.lost);
        writeln!(
            f,
            "samples: {samples}; suspends: {suspends}; CPUs lost: {lost}"
        )?;
        if !account.rejected.is_empty() {
            let reasons = account.rejected.iter();
            let reasons = reasons.map(|(reason, count)| format!("{count} {reason}"));
            writeln!(f, "not counted: {}", reasons.format(", "))?;
        }
        for (count, what) in [
            (
                self.unrecorded,
                "runs that ended without records, so their attempts are missing \
                 above",
            ),
            (
                self.damaged,
                "runs that lost records, so attempts may be missing above",
            ),
        ] {
            if count > 0 {
                writeln!(f, "{what}: {count}")?;
            }
        }
        Ok(())
    }
}
