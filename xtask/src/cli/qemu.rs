//! `cargo xtask qemu`.

use std::env;
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use follow::RunWatcher;
use follow::stream::closing_totals;
use hardware::text::plural::{Many, many};
use host::exit_code::FAILED;
use host::interrupt;
use host::log_file::LogFile;
use host::progress::{StepProgress, in_words, say};
use host::stdout::Out;
use runner::build::boot_arguments::parse_plan;
use runner::build::firmware_kind::FirmwareKind;
use runner::qemu::prepare;
use runner::qemu::run_arguments::RunArguments;
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::{Payload, RunSpec};
use runner::setup::workspace::Workspace;
use suite::model::{Verdict, scenarios};

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

/// Runs QEMU, shows the UART output, and prints the result.
pub(super) fn run(arguments: &QemuArguments) -> Result<RunResult> {
    if let Some(log) = &arguments.log {
        arguments.run.check_log(log)?;
    }
    let spec = arguments.run.to_spec()?;
    let is_terminal = stdout().is_terminal();
    if is_terminal {
        say_opening(&spec)?;
    }
    let interrupt = interrupt::watch()?;
    let prepared = prepare::prepare(&spec)?;
    let mut log = match &arguments.log {
        Some(path) => Some(LogFile::create(path)?),
        None if is_terminal => {
            let folder = Workspace::find()?.state().join("logs");
            Some(LogFile::in_next(&folder)?)
        }
        None => None,
    };
    let mut out = Out::default();
    let progress = is_terminal.then(|| StepProgress::on_terminal("starting QEMU"));
    let mut watcher = RunWatcher::with_output(&mut out);
    watcher.log = log.as_mut();
    watcher.progress = progress;
    watcher.has_records = arguments.records;
    let ran = prepared.run(interrupt, &mut watcher);
    drop(watcher);
    let result = ran?;
    let log = log.map(LogFile::end).transpose();
    if let (true, Ok(Some(log))) = (is_terminal, &log) {
        say_next(log, &spec, &result);
    }
    say(&result.line());
    result.positions.iter().for_each(|position| say(position));
    log?;
    Ok(result)
}

/// Runs QEMU as [`run`] does, and returns the exit code. With `--deny-skipped`, a run that passes but
/// skips something has failed.
pub(super) fn run_and_judge(arguments: &QemuArguments) -> Result<u8> {
    let result = run(arguments)?;
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

/// Prints the planned run and its duration before anything is built.
fn say_opening(spec: &RunSpec) -> Result<()> {
    let board = boards::load(&spec.board)?;
    let plan = parse_plan(spec.args.as_deref())?;
    let cpus = Many(spec.cpus()?.into(), "CPU");
    let scenarios = many(scenarios(&plan).len(), "scenario");
    let limit = in_words(spec.timeout);
    say(&format!(
        "{} with {cpus}, under {}",
        board.title,
        spec.firmware.title()
    ));
    let plan = match spec.payload {
        Payload::Build => format!("plan: {scenarios}, "),
        Payload::Image(_) => String::new(),
    };
    say(&format!("{plan}time limit {limit}"));
    say("building anything out of date, then starting QEMU; Ctrl-C stops the run");
    Ok(())
}

/// Prints the path of the log, and commands that are useful after the run.
fn say_next(log: &Path, spec: &RunSpec, result: &RunResult) {
    let here = env::current_dir().ok();
    let from_here = here.and_then(|current_folder| log.strip_prefix(current_folder).ok());
    let log = from_here.unwrap_or(log).display();
    let is_usual = spec.smp.is_none()
        && spec.gic.is_none()
        && spec.board == "qemu"
        && spec.firmware == FirmwareKind::TfA;
    say(&format!("log: {log}"));
    match result.verdict {
        Verdict::Pass => {
            say(&format!(
                "next:\n  cargo xtask report {log} --format html -o run.html"
            ));
            if is_usual {
                say("or:\n  cargo xtask qemu --smp 16");
            }
        }
        Verdict::Fail => say(&format!("next:\n  cargo xtask report {log}")),
        Verdict::BadInput => say("next: correct the boot arguments or the device tree named above"),
        Verdict::Incomplete => say("next: docs/reliability.md lists what can stop a run"),
    }
}
