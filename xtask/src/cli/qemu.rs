//! `cargo xtask qemu`.

use std::env;
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use follow::RunWatcher;
use follow::stream::TIMEOUT_MAX_S;
use hardware::text::plural::{Many, many};
use host::log_file::LogFile;
use host::progress::{StepProgress, in_words, say};
use host::stdout::Out;
use host::{files, interrupt, read_file};
use suite::model::{Verdict, scenarios};

use super::boot_arguments::parse_plan;
use runner::build::firmware::FirmwareVariant;
use runner::build::firmware_kind::FirmwareKind;
use runner::build::payload::TreeSource;
use runner::build::{GivenStates, bl32, flash};
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::{Payload, RunSpec};
use runner::qemu::{Level, kvm_host, prepare, timeout};
use runner::setup::workspace::Workspace;

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

/// The arguments that define a run, shared by all commands that start runs.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// The machine and its firmware.
    #[command(flatten)]
    pub spec: RunSpec,
    /// Time limit in seconds [default: the plan's].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX_S))]
    pub timeout: Option<u64>,
    /// Append this device tree instead of the board's.
    #[arg(long, value_name = "FILE")]
    pub dtb: Option<PathBuf>,
    /// Run this file as BL33 (its device tree is kept).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["args", "dtb", "state_format", "core"])]
    pub image: Option<PathBuf>,
    /// Run this file as BL32 (OP-TEE's tee-raw.bin).
    #[arg(long, value_name = "FILE")]
    pub bl32: Option<PathBuf>,
}

impl RunArguments {
    /// Returns true if no option differs from its default.
    #[cfg(feature = "full")]
    pub(super) fn are_defaults(&self) -> bool {
        let has_files = [&self.dtb, &self.image, &self.bl32]
            .iter()
            .any(|option| option.is_some());
        self.spec == RunSpec::default() && self.timeout.is_none() && !has_files
    }
}

/// Runs QEMU, shows the UART output, and prints the result.
pub(super) fn run(arguments: &QemuArguments) -> Result<RunResult> {
    if let Some(log) = &arguments.log {
        check_log(log, &arguments.run)?;
    }
    let spec = spec(&arguments.run)?;
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

/// Prints the planned run and its duration before anything is built.
fn say_opening(spec: &RunSpec) -> Result<()> {
    let board = boards::load(&spec.board)?;
    let plan = parse_plan(spec.args.as_deref())?;
    let cpus = Many(cpus(spec)?.into(), "CPU");
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

/// Returns the number of CPUs in a run.
fn cpus(spec: &RunSpec) -> Result<u32> {
    match spec.smp {
        Some(cpus) => Ok(cpus),
        None if spec.firmware == FirmwareKind::Kvm => Ok(kvm_host::CPUS),
        None => boards::load(&spec.board)?.default_cpus(),
    }
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

/// Rejects a log file that cannot be written or is one of the inputs to the run.
pub(super) fn check_log(log: &Path, run: &RunArguments) -> Result<()> {
    let inputs = [
        ("--dtb", run.dtb.as_deref()),
        ("--image", run.image.as_deref()),
        ("--bl32", run.bl32.as_deref()),
    ];
    files::check_output(("--log", log), &inputs)
}

/// Returns the requested run.
pub(super) fn spec(arguments: &RunArguments) -> Result<RunSpec> {
    let mut spec = arguments.spec.clone();
    let (firmware, name) = (spec.firmware, spec.firmware.name());
    let has_variant = spec.variant != FirmwareVariant::default();
    let is_built = matches!(firmware, FirmwareKind::TfA | FirmwareKind::UBoot);
    for (option, is_lost) in [
        ("--variant", has_variant && !is_built),
        ("--fault", spec.fault.is_some() && !is_built),
        ("--bl32", arguments.bl32.is_some() && !is_built),
        ("--tf-a", spec.tf_a.is_some() && !firmware.is_tf_a()),
    ] {
        if is_lost {
            let built = "TF-A built for --firmware tf-a";
            bail!("{option} applies to {built}, not to --firmware {name}");
        }
    }
    for (option, is_lost) in [
        ("--dtb", arguments.dtb.is_some()),
        ("--image", arguments.image.is_some()),
        (
            "--core and --state-format",
            spec.states != GivenStates::default(),
        ),
    ] {
        if is_lost && firmware.has_efi() {
            bail!(
                "{option}: with --firmware {name} the payload is in an EFI application, which uses \
                 the machine's own tables; set core= and deepest= in --args"
            );
        }
    }
    let is_kvm = firmware == FirmwareKind::Kvm;
    if is_kvm && spec.level == Level::El2 {
        bail!("--el 2: a KVM guest is entered at EL1");
    }
    let plan = parse_plan(spec.args.as_deref())?;
    let by_plan = |spec: &RunSpec| Ok::<_, anyhow::Error>(timeout::timeout(cpus(spec)?, &plan));
    spec.timeout = match arguments.timeout {
        Some(seconds) => Duration::from_secs(seconds),
        None if is_kvm => kvm_host::guest_timeout(by_plan(&spec)?),
        None => by_plan(&spec)?,
    };
    if let Some(path) = &arguments.dtb {
        spec.tree = TreeSource::File(path.clone());
    }
    if arguments.bl32.is_some() && spec.variant.has("pabandon=1") {
        bail!(
            "--bl32: TF-A's OP-TEE dispatcher does not support abandoned power-downs; remove \
             pabandon=1 from --variant"
        );
    }
    spec.bl32 = arguments.bl32.as_deref().map(bl32::read).transpose()?;
    if let Some(path) = &arguments.image {
        spec.payload = Payload::Image(read_file::read("--image", path, flash::IMAGE_MAX)?);
    }
    Ok(spec)
}
