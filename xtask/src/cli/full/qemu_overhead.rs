//! `cargo xtask qemu-overhead`: the cost of TF-A instrumentation.

use std::io::{self};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use host::interrupt;
use host::log_file::LogFile;
use host::progress::{StepProgress, say};
use report::analysis::overhead::CostUnit;
use report::cli::overhead::{only_run, print};
use report::follow::screen::Screen;
use report::log::read_bytes;

use crate::build::firmware::Variant;
use crate::build::firmware_kind::FirmwareKind;
use crate::cli::qemu::{self, RunArguments};
use crate::qemu::run_spec::RunSpec;
use crate::qemu::{ICOUNT_NS, prepare};

/// Run on QEMU with and without PMF, and show the PMF overhead.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask qemu-overhead --icount
  cargo xtask qemu-overhead --icount --log run.log  # run.pmf.log, run.plain.log

Exits with the exit code of the worse run.
Details: docs/overhead.md, docs/qemu.md")]
pub struct QemuOverheadArguments {
    /// The runs.
    #[command(flatten)]
    pub run: RunArguments,
    /// Write the UART output to NAME.pmf.log and NAME.plain.log.
    #[arg(long, value_name = "NAME.log")]
    pub log: Option<PathBuf>,
}

/// Runs both builds and returns the exit code of the worse run.
pub(super) fn run(arguments: &QemuOverheadArguments) -> Result<u8> {
    let spec = qemu::spec(&arguments.run)?;
    if spec.firmware != FirmwareKind::TfA {
        let name = spec.firmware.name();
        bail!("qemu-overhead builds TF-A with and without PMF, so it cannot use --firmware {name}");
    }
    if spec.variant.has("pmf=off") {
        bail!(
            "qemu-overhead runs with and without PMF; --variant can only choose pmf=new or pmf=sip"
        );
    }
    if spec.fault.is_some() {
        bail!("--fault changes the measurements; qemu-overhead needs firmware without a fault");
    }
    let logs = arguments.log.as_deref().map(logs);
    for log in logs.iter().flatten() {
        qemu::check_log(log, &arguments.run)?;
    }
    if !spec.icount {
        say(
            "warning: without --icount, times depend mostly on the host's load; use \
             --icount to compare instruction counts",
        );
    }
    let interrupt = interrupt::watch()?;
    let plain = spec.variant.with("pmf=off");
    let run = |place: usize, build: &str, variant: Variant| {
        let spec = RunSpec {
            variant,
            ..spec.clone()
        };
        let prepared = prepare::prepare(&spec)?;
        let log = logs.as_ref().map(|logs| LogFile::create(&logs[place]));
        let mut log = log.transpose()?;
        let (mut out, progress) = (io::sink(), StepProgress::on_terminal(build));
        let mut screen = Screen::new(log.as_mut(), &mut out, Some(progress));
        let result = prepared.run(interrupt, &mut screen);
        drop(screen);
        let result = result?;
        say(&format!("{build} build ({variant}): {}", result.line()));
        result.positions.iter().for_each(|position| say(position));
        log.map(LogFile::end).transpose()?;
        let runs = read_bytes(build, &result.log).with_context(|| format!("the {build} build"))?;
        anyhow::Ok((only_run(runs, build)?, result.exit_code()))
    };
    let (with, one) = run(0, "instrumented", spec.variant)?;
    let (without, other) = run(1, "plain", plain)?;
    let unit = match spec.icount {
        true => CostUnit::Instructions { ns: ICOUNT_NS },
        false => CostUnit::Time,
    };
    print(&with, &without, unit)?;
    Ok(one.max(other))
}

/// Returns the paths of the two logs: `run.pmf.log` and `run.plain.log` for `run.log`.
fn logs(log: &Path) -> [PathBuf; 2] {
    let ending = log.extension().unwrap_or_default();
    ["pmf", "plain"].map(|build| log.with_extension(build).with_added_extension(ending))
}
