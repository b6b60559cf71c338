//! The result of a run.

use std::time::Duration;

#[cfg(feature = "full")]
use anyhow::{Context, Result, bail};
use report::follow::stream::MachineEnding;
#[cfg(feature = "full")]
use report::log::{LoggedRun, read_bytes};
use suite::model::Verdict;

/// The result of a run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// All bytes from the UART.
    pub log: Vec<u8>,
    /// The payload's verdict, or INCOMPLETE if it is missing.
    pub verdict: Verdict,
    /// How QEMU ended.
    pub ending: MachineEnding,
    /// How far the run got and why it probably stopped, or None if the log has a closing line.
    pub diagnosis: Option<String>,
    /// Where each CPU was executing at the deadline, as lines of text, if QEMU reported it.
    pub positions: Vec<String>,
    /// How long QEMU ran.
    pub elapsed: Duration,
}

impl RunResult {
    /// Returns the verdict in one or two words.
    pub fn word(&self) -> &'static str {
        word(self.verdict)
    }

    /// Returns the verdict and the time, plus the diagnosis if the verdict is missing.
    pub fn line(&self) -> String {
        let seconds = self.elapsed.as_secs_f64();
        self.sentence(&format!("{} after {seconds:.1} s", self.word()))
    }

    /// Returns the verdict or, if it is missing, the diagnosis. Unlike [`Self::line`], this does
    /// not include the time, so all runs that end in the same way produce the same text.
    pub fn reason(&self) -> String {
        self.sentence(self.word())
    }

    fn sentence(&self, end: &str) -> String {
        match &self.diagnosis {
            Some(diagnosis) => format!("{end}: {diagnosis}"),
            None => end.to_owned(),
        }
    }

    /// Returns the exit code for the verdict.
    pub fn exit_code(&self) -> u8 {
        self.verdict.exit_code()
    }

    /// Reads the run in the log.
    ///
    /// # Errors
    /// Returns an error if the log contains no run or only part of one.
    #[cfg(feature = "full")]
    pub fn complete_run(&self) -> Result<LoggedRun> {
        let mut runs = read_bytes("the UART", &self.log)?;
        let logged = runs.pop().context("the log contains no run")?;
        if let Some(lack) = logged.lacks().first() {
            bail!("the log is incomplete: {lack}");
        }
        Ok(logged)
    }

    /// Returns the log as a string.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.log).into_owned()
    }
}

/// Returns the keyword for a verdict.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::BadInput => "bad input",
        Verdict::Incomplete => "INCOMPLETE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_does_not_contain_the_time() {
        let result_of = |seconds| RunResult {
            log: Vec::new(),
            verdict: Verdict::Incomplete,
            ending: MachineEnding::TimedOut,
            diagnosis: Some("no closing line within 7 s".to_owned()),
            positions: Vec::new(),
            elapsed: Duration::from_secs(seconds),
        };
        assert_eq!(result_of(7).reason(), result_of(8).reason());
        assert_eq!(
            result_of(8).line(),
            "INCOMPLETE after 8.0 s: no closing line within 7 s"
        );
    }
}
