//! A run whose UART output is shown to the user.

use std::env;
use std::io::{IsTerminal, stdout};
use std::path::Path;

use anyhow::Result;
use follow::RunWatcher;
use follow::stream::MachineEnding;
use hardware::text::plural::{Many, many};
use host::interrupt;
use host::log_file::LogFile;
use host::progress::{StepProgress, in_words, say};
use host::stdout::Out;
use suite::model::{Verdict, scenarios};

use super::boot::BootBuilder;
use super::loader::Loader;
use super::prepare;
use super::run_result::RunResult;
use super::run_spec::{Payload, RunSpec};
use crate::build::boot_arguments::parse_plan;
use crate::setup::workspace::Workspace;

/// A run whose UART output is shown to the user.
#[derive(Clone, Debug)]
pub struct ShownRun<'l> {
    /// The run.
    pub spec: RunSpec,
    /// What starts the payload.
    pub loader: &'static dyn BootBuilder,
    /// The file to which the UART output is also written. On a terminal, the default is a new file
    /// in `target/`.
    pub log: Option<&'l Path>,
    /// Whether records are also shown on a terminal.
    pub has_records: bool,
}

impl ShownRun<'_> {
    /// Runs QEMU, shows the UART output, and prints the result.
    ///
    /// # Errors
    /// Returns an error if something cannot be built, the machine does not start, or the log cannot
    /// be written.
    pub fn run(&self) -> Result<RunResult> {
        let is_terminal = stdout().is_terminal();
        if is_terminal {
            say_opening(&self.spec, self.loader)?;
        }
        if parse_plan(self.spec.args.as_deref())?.lists_scenarios() {
            say("note: cargo xtask scenarios prints this list without starting QEMU");
        }
        let interrupt = interrupt::watch()?;
        let prepared = prepare::prepare_with(&self.spec, self.loader)?;
        let mut log = match self.log {
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
        watcher.has_records = self.has_records;
        let ran = prepared.run(interrupt, &mut watcher);
        drop(watcher);
        let result = ran?;
        let log = log.map(LogFile::end).transpose();
        if let (true, Ok(Some(log))) = (is_terminal, &log) {
            self.say_next(log, &result);
        }
        say(&result.line());
        result.positions.iter().for_each(|position| say(position));
        log?;
        Ok(result)
    }

    /// Prints the path of the log, and commands that are useful after the run.
    fn say_next(&self, log: &Path, result: &RunResult) {
        let here = env::current_dir().ok();
        let from_here = here.and_then(|current_folder| log.strip_prefix(current_folder).ok());
        let log = from_here.unwrap_or(log).display();
        let is_usual = self.spec == RunSpec::default() && self.is_started_by_firmware();
        say(&format!("log: {log}"));
        match result.verdict {
            Verdict::Pass => {
                say(&format!("next:\n  cargo xtask report {log} --open"));
                if is_usual {
                    say("or:\n  cargo xtask qemu --smp 16");
                }
            }
            Verdict::Fail => say(&format!("next:\n  cargo xtask report {log}")),
            Verdict::BadInput => {
                say("next: correct the boot arguments or the device tree named above")
            }
            Verdict::Incomplete if result.ending == MachineEnding::Interrupted => say(&format!(
                "next, for the scenarios that ended:\n  cargo xtask report {log}"
            )),
            Verdict::Incomplete => say("next: docs/reliability.md lists what can stop a run"),
        }
    }

    /// Returns true if no program between the firmware and the payload is used.
    fn is_started_by_firmware(&self) -> bool {
        let firmware = self.spec.firmware;
        self.loader.title(firmware) == firmware.title()
    }
}

/// Prints the planned run and its duration before anything is built.
fn say_opening(spec: &RunSpec, loader: &dyn Loader) -> Result<()> {
    let board = boards::load(&spec.board)?;
    let plan = parse_plan(spec.args.as_deref())?;
    let cpus = Many(spec.cpus()?.into(), "CPU");
    let scenarios = many(scenarios(&plan).len(), "scenario");
    let limit = in_words(spec.timeout);
    say(&format!(
        "{} with {cpus}, under {}",
        board.title,
        loader.title(spec.firmware)
    ));
    let plan = match spec.payload {
        Payload::Build => format!("plan: {scenarios}, "),
        Payload::Image(_) => String::new(),
    };
    say(&format!("{plan}time limit {limit}"));
    say("building anything out of date, then starting QEMU; Ctrl-C stops the run");
    Ok(())
}
