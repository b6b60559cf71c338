//! `cargo xtask qemu --overhead`: the costs of a firmware's instrumentation.

use std::io::{self};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::interrupt;
use host::log_file::LogFile;
use host::progress::{StepProgress, say};
use report::analysis::overhead::CostUnit;
use report::cli::overhead::{only, print};
use report::follow::screen::Screen;
use report::log::read_bytes;

use crate::build::firmware::Variant;
use crate::build::firmware_kind::FirmwareKind;
use crate::cli::qemu::{self, QemuArguments};
use crate::qemu::run_spec::RunSpec;
use crate::qemu::{ICOUNT_NS, prepare};

pub(crate) fn on_qemu(arguments: &QemuArguments) -> Result<u8> {
    let spec = qemu::spec(&arguments.run)?;
    if spec.firmware != FirmwareKind::TfA {
        let name = spec.firmware.name();
        bail!(
            "--overhead is about TF-A's instrumentation, and --firmware {name} is not built without it"
        );
    }
    if spec.variant.has("pmf=off") {
        bail!("--overhead runs with PMF and without: --variant chooses pmf=new or pmf=sip of it");
    }
    let logs = arguments.log.as_deref().map(logs);
    for log in logs.iter().flatten() {
        qemu::check_log(log, &arguments.run)?;
    }
    if !spec.icount {
        say(
            "warning: without --icount this is the host's time, and mostly about how busy it is: \
             emulated firmware is told by instructions",
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
        anyhow::Ok((only(runs)?, result.exit_code()))
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

/// Returns the files of both logs: `run.log` is `run.pmf.log` and `run.plain.log`.
fn logs(log: &Path) -> [PathBuf; 2] {
    let ending = log.extension().unwrap_or_default();
    ["pmf", "plain"].map(|build| log.with_extension(build).with_added_extension(ending))
}
