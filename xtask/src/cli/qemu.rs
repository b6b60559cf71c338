//! `cargo xtask qemu`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use follow::stream::closing_totals;
use hardware::text::plural::Many;
use host::exit_code::FAILED;
use host::progress::say;
use runner::qemu::loader::FirmwareLoader;
use runner::qemu::run_arguments::RunArguments;
use runner::qemu::shown_run::ShownRun;

/// Run on QEMU under real TF-A; the exit code shows the verdict.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask qemu
  cargo xtask qemu --smp 32 --icount --log run.log
  cargo xtask qemu --gic 2 --el 1 --args 'iterations=5 only=cpu_off_serial'
  cargo xtask qemu --repeat 1000 --keep night

Details: docs/qemu.md")]
pub struct QemuArguments {
    /// The run.
    #[command(flatten)]
    pub run: RunArguments,
    /// Also write the UART output to this file.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Also show records on a terminal.
    #[arg(long)]
    pub records: bool,
    /// Exit with 1 if a scenario or a CPU's row was skipped.
    #[arg(long)]
    pub deny_skipped: bool,
    /// Run N times, print a line for each run, and keep the logs of those that did not pass.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["log", "records", "deny_skipped"])]
    pub repeat: Option<u64>,
    /// New directory for the logs of repeated runs.
    #[arg(long, value_name = "DIR", requires = "repeat")]
    pub keep: Option<PathBuf>,
}

/// Runs QEMU and returns the exit code. With `--deny-skipped`, a run that passes but skips something
/// has failed.
pub(super) fn run(arguments: &QemuArguments) -> Result<u8> {
    if let Some(log) = &arguments.log {
        arguments.run.check_log(log)?;
    }
    let shown = ShownRun {
        spec: arguments.run.to_spec()?,
        loader: &FirmwareLoader,
        log: arguments.log.as_deref(),
        has_records: arguments.records,
    };
    let result = shown.run()?;
    let code = result.exit_code();
    let Some(totals) = closing_totals(&result.log).filter(|_| arguments.deny_skipped) else {
        return Ok(code);
    };
    let (scenarios, rows) = (totals.skipped, totals.rows_skipped);
    if code != 0 || (scenarios == 0 && rows == 0) {
        return Ok(code);
    }
    let scenarios = Many(scenarios.into(), "scenario");
    let rows = Many(rows, "row");
    say(&format!(
        "skipped, which --deny-skipped forbids: {scenarios} and {rows}; the summary gives the reasons"
    ));
    Ok(FAILED)
}
