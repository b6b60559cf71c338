//! The `follow` verb.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use follow::stream::TIMEOUT_MAX_S;
use host::log_file::LogFile;
use host::progress::say;
use host::{files, interrupt};

use super::chosen_runs::run_or_boot;
use super::output::{OutputArguments, WithFormats};
use super::report_verdict::{judge, say_mark_of};
use crate::export::{Format, Report, ReportPart, able};
use crate::log::runs;
use crate::serial;

impl WithFormats for FollowArguments {
    type Format = &'static Format;

    fn formats() -> Vec<&'static Format> {
        able(ReportPart::Runs).collect()
    }
}

/// Arguments of `follow`.
#[derive(Args, Debug)]
#[command(mut_arg("output", |output| output.help("File to write the report to [default: stdout]")))]
#[command(after_help = "\
Examples:
  {program} follow /dev/ttyUSB0 --log run.log
  {program} follow - --log run.log < /dev/ttyUSB0

Exit codes: 3 if the run does not end in time
Details: docs/report.md, Following a board")]
pub struct FollowArguments {
    /// Serial port, 8N1, such as /dev/ttyUSB0; - is stdin.
    #[arg(value_name = "PORT")]
    port: PathBuf,
    /// Speed of the port.
    #[arg(long, value_name = "N", default_value_t = 115_200, value_parser = clap::value_parser!(u32).range(300..=12_000_000))]
    baud: u32,
    /// Also write the UART output to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Seconds to wait for the run to end.
    #[arg(long, value_name = "S", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX_S))]
    timeout: u64,
    #[command(flatten)]
    output: OutputArguments<Self>,
}

impl FollowArguments {
    /// Follows the run, writes its report, and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        if let Some(log) = &self.log {
            files::check_output(("--log", log), &[("PORT", Some(&self.port))])?;
        }
        self.output.check("--log", self.log.as_slice())?;
        self.output.check::<&Path>("PORT", &[&self.port])?;
        let interrupt = interrupt::watch()?;
        let timeout = Duration::from_secs(self.timeout);
        let mut log = self.log.as_deref().map(LogFile::at).transpose()?;
        let followed = serial::follow(&self.port, self.baud, timeout, interrupt, log.as_mut())?;
        say(&followed.to_string());
        say_mark_of(&followed.log);
        let name = self.port.display().to_string();
        let followed_runs = runs(&name, followed.log.as_slice()).map(run_or_boot);
        let report: Report = followed_runs.collect::<Result<Vec<_>, _>>()?.into();
        self.output.write(&report)?;
        log.map(LogFile::end).transpose()?;
        let code = judge(&report, None);
        for logged in &report.runs {
            say(&logged.verdict_text());
        }
        Ok(code)
    }
}
