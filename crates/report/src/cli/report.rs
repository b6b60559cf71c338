//! The `report` verb.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use hardware::spec::ticks::Clock;
use host::exit_code::FAILED;
use host::progress::say;
use host::read_file;

use super::browser::{make_page, open_page};
use super::chosen_runs::{ChosenRuns, read_each_boot, run_number_parser};
use super::output::{check_output, format_help, format_parser, write_report};
use super::report_verdict::{judge, say_denied, say_mark_of};
use crate::export::{self, Format, Report, ReportPart};

/// Boot marks are explained only for logs up to this size, in bytes.
const BOOT_LOG_MAX: usize = 1 << 20;
/// The default format, and the format shown in a browser.
const TEXT: &str = "text";
const PAGE: &str = "html";

/// Returns the formats that can show runs.
fn formats() -> Vec<&'static Format> {
    export::able(ReportPart::Runs).collect()
}

/// Arguments of `report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  {program} report run.log
  {program} report run.log --open
  {program} report run.log --format rst -o juno.rst

Exit codes: 1 only with --deny-skipped; 3 if a log is incomplete, or shows
only a boot
Details: docs/report.md")]
pub struct ReportArguments {
    /// Logs from psci-bench or TFTF, or published tables; - is stdin.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(formats()))]
    #[arg(help = format_help(&formats()) + " [default: text]")]
    format: Option<&'static Format>,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Open the report in a browser (implies --format html).
    #[arg(long)]
    open: bool,
    /// Report only the Nth run in the logs.
    #[arg(long, value_name = "N", value_parser = run_number_parser())]
    run: Option<usize>,
    /// Counter frequency, for boot times in logs that do not contain it.
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u64).range(Clock::BELIEVED))]
    counter_hz: Option<u64>,
    /// Exit with 1 if a run skipped a scenario or a CPU's row.
    #[arg(long)]
    deny_skipped: bool,
}

impl ReportArguments {
    /// Writes the report and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        let result = self.report();
        if !matches!(result, Ok(0 | FAILED)) {
            say_marks(&self.logs);
        }
        result
    }

    fn report(&self) -> Result<u8> {
        let format = self.format()?;
        check_output(self.output.as_deref(), "LOG", &self.logs)?;
        let mut chosen = ChosenRuns::new(self.run);
        read_each_boot(&self.logs, |mut logged| {
            logged.given_hz = self.counter_hz;
            chosen.add(logged);
        })?;
        let report: Report = chosen.end("--run", "the input")?.into();
        if self.open {
            let page = self.output.clone().map_or_else(make_page, Ok)?;
            write_report(&report, format, Some(&page))?;
            say(&format!("opening {}", page.display()));
            open_page(&page)?;
        } else {
            write_report(&report, format, self.output.as_deref())?;
        }
        let code = judge(&report, None);
        if self.deny_skipped && say_denied(&report) {
            Ok(code.max(FAILED))
        } else {
            Ok(code)
        }
    }

    fn format(&self) -> Result<&'static Format> {
        let default_name = if self.open { PAGE } else { TEXT };
        let default = || export::by_name(default_name).expect("a known format");
        let format = self.format.unwrap_or_else(default);
        if self.open && format.name != PAGE {
            let name = format.name;
            bail!("--open needs an HTML page, not --format {name}; use --format {PAGE}");
        }
        Ok(format)
    }
}

/// For each log whose boot marks stop before the end, prints how far the boot got.
fn say_marks(logs: &[PathBuf]) {
    for log in logs {
        // Logs that cannot be read, or that contain more than just a boot, are reported elsewhere.
        if log.is_file()
            && let Ok(bytes) = read_file::read("", log, BOOT_LOG_MAX)
        {
            say_mark_of(&bytes);
        }
    }
}
