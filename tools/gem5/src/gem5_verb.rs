//! The verb `gem5`.

use std::io::{IsTerminal as _, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use follow::RunWatcher;
use follow::stream::{MachineEnding, TIMEOUT_MAX_S, find_verdict};
use hardware::text::plural::{Many, many};
use host::folder::FolderFile;
use host::log_file::LogFile;
use host::progress::{StepProgress, in_words, say};
use host::stdout::Out;
use host::{TmpdirContext as _, files, folder, interrupt};
use runner::qemu::machine_process::{MachineProcess, MachineResult};
use runner::qemu::run_result::word;
use runner::setup::workspace::Workspace;
use suite::model::{Verdict, scenarios};

use super::boot_files::{BootArguments, BootFiles};
use super::diagnosis::diagnose;
use super::installation::Gem5;
use super::machine::{CONFIGURATION, MachineArguments};

/// The default time limit. gem5 executes about a million instructions a second.
const TIMEOUT_S: u64 = 6 * 60 * 60;

/// The name of the configuration in the folder of a run.
const CONFIGURATION_FILE: &str = "machine.py";

/// Run the payload on a machine with caches, simulated by gem5.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  {program} gem5 --gem5 ../gem5 --clusters 2 --args iterations=1
  {program} gem5 --gem5 ../gem5 --cpu atomic --log run.log

gem5 must be built for Arm. Its figures are no board's.
Details: tools/gem5/README.md")]
pub(crate) struct Gem5Arguments {
    /// Source tree of gem5, with build/ARM/gem5.opt.
    #[arg(long, value_name = "DIR")]
    gem5: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArguments,
    #[command(flatten)]
    boot: BootArguments,
    /// Option for gem5, such as --debug-flags=FVPBasePwrCtrl; may be repeated.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    gem5_option: Vec<String>,
    /// Time limit in seconds [default: 6 hours].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX_S))]
    timeout: Option<u64>,
    /// Also write the UART output to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Keep what the machine boots and gem5's files in this new folder.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Also show records on a terminal.
    #[arg(long)]
    records: bool,
}

impl Gem5Arguments {
    /// Writes `files` to the folder to keep or, if there is none, to `scratch`. Returns the folder.
    fn write(&self, files: &[FolderFile], scratch: &Path) -> Result<PathBuf> {
        let Some(keep) = &self.keep else {
            folder::write_new(scratch, files)?;
            return Ok(scratch.to_path_buf());
        };
        let context = || format!("--keep {}", keep.display());
        folder::write_new(keep, files).with_context(context)?;
        Ok(std::path::absolute(keep)?)
    }
}

/// Builds what the machine boots, runs gem5, and prints the result. Returns the exit code.
pub(crate) fn run(arguments: &Gem5Arguments) -> Result<u8> {
    let interrupt = interrupt::watch()?;
    let workspace = Workspace::find()?;
    let gem5 = Gem5::find(arguments.gem5.as_deref())?;
    if let Some(log) = &arguments.log {
        files::check_output(("--log", log), &[])?;
    }
    let boot = BootFiles::new(&arguments.boot, &arguments.machine.clusters)?;
    let limit = Duration::from_secs(arguments.timeout.unwrap_or(TIMEOUT_S));
    say_opening(&boot, limit);
    let mut files = boot.build(&workspace, &arguments.boot)?;
    files.push(FolderFile::new(CONFIGURATION_FILE, CONFIGURATION));
    let scratch = tempfile::tempdir().tmpdir_context()?;
    let folder = arguments.write(&files, scratch.path())?;
    let mut log = arguments.log.as_deref().map(LogFile::create).transpose()?;
    let mut out = Out::default();
    let mut watcher = RunWatcher::with_output(&mut out);
    watcher.log = log.as_mut();
    watcher.progress = stdout()
        .is_terminal()
        .then(|| StepProgress::on_terminal("starting gem5"));
    watcher.has_records = arguments.records;
    let process = MachineProcess::start(&mut command(arguments, &gem5, &folder))?;
    let ran = process.follow(limit, interrupt, &mut watcher, &mut || ());
    drop(watcher);
    let result = ran?;
    log.map(LogFile::end).transpose()?;
    Ok(say_result(&result, limit, arguments.log.as_deref()))
}

/// Returns the command that starts gem5 with the files in `folder`.
fn command(arguments: &Gem5Arguments, gem5: &Gem5, folder: &Path) -> Command {
    let mut command = Command::new(&gem5.program);
    command.arg(format!("--outdir={}", folder.join("m5out").display()));
    // Neither a debugger nor a terminal connects to the machine.
    command.args(["--quiet", "--listener-mode=off"]);
    command.args(&arguments.gem5_option);
    command.arg(folder.join(CONFIGURATION_FILE));
    command.args(arguments.machine.words(gem5, folder));
    command.current_dir(folder);
    command
}

/// Prints the planned run before anything is built.
fn say_opening(boot: &BootFiles, limit: Duration) {
    let cpus = Many(boot.cpus() as u64, "CPU");
    let scenarios = many(scenarios(&boot.plan).len(), "scenario");
    let limit = in_words(limit);
    say(&format!("gem5 with {cpus}, under TF-A's fvp platform"));
    say(&format!(
        "plan: {scenarios}, time limit {limit}; Ctrl-C stops the run"
    ));
}

/// Prints how the run ended, and returns the exit code.
fn say_result(result: &MachineResult, limit: Duration, log: Option<&Path>) -> u8 {
    let verdict = match result.ending {
        MachineEnding::Interrupted => None,
        _ => find_verdict(&result.log),
    };
    let seconds = result.elapsed.as_secs_f64();
    let ended = format!(
        "{} after {seconds:.1} s",
        word(verdict.unwrap_or(Verdict::Incomplete))
    );
    match verdict {
        Some(verdict) => {
            if let Some(log) = log {
                say(&format!("next:\n  cargo xtask report {}", log.display()));
            }
            say(&ended);
            verdict.exit_code()
        }
        None => {
            say(&format!("{ended}: {}", diagnose(result, limit)));
            Verdict::Incomplete.exit_code()
        }
    }
}
