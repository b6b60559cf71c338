//! `cargo xtask qemu`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use super::common::{EXIT_CODES, FAILED, plan};
use super::files;
use crate::board::firmware_kind::Firmware;
use crate::board::{self, Gic, GivenStates};
use crate::build::firmware::{Variant, fault};
use crate::build::flash;
use crate::build::payload::Tree;
use crate::qemu::run_spec::{Payload, RunSpec};
use crate::qemu::timeout::{self, TIMEOUT_MAX};
use crate::qemu::{Level, diagnosis, kvm_host, run};
use crate::report::log::{LoggedRun, read_bytes};
use crate::setup::progress::say;
use crate::setup::read_file;
use crate::setup::stdout::Out;
use crate::setup::workspace::Workspace;

/// Arguments of `qemu`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
{EXIT_CODES}

Examples:
  cargo xtask qemu
  cargo xtask qemu --smp 32 --icount --log run.log
  cargo xtask qemu --overhead --icount
  cargo xtask qemu --gic 2 --el 1 --args 'iterations=5 only=cpu_off_serial'
  cargo xtask qemu --variant coherency=sw,pmf=sip --tf-a ../trusted-firmware-a
  cargo xtask qemu --fault cpu-on-denied,cpu=0x3,skip=2
  cargo xtask qemu --firmware builtin --smp 64
  cargo xtask qemu --dtb my-board.dtb --deny-skipped
  cargo xtask qemu --firmware kvm                # as a guest"))]
pub struct QemuArguments {
    /// The run.
    #[command(flatten)]
    pub run: RunArguments,
    /// Also write the UART's bytes to this file; with --overhead, those of the
    /// two runs to run.pmf.log and run.plain.log of --log run.log.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Run under the firmware with PMF and without, and print what its
    /// instrumentation costs: in instructions with --icount, else in time.
    /// The exit code is that of the worse run.
    #[arg(long, conflicts_with = "fault")]
    pub overhead: bool,
    /// Exit with 1 where the run passes, and has skipped a scenario or a CPU's
    /// row of one. What was skipped is named.
    #[arg(long, conflicts_with = "overhead")]
    pub deny_skipped: bool,
}

/// The parts of a run, for all commands that run.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The board: a folder of platforms/ that QEMU emulates.
    #[arg(long, value_name = "NAME", default_value = "qemu")]
    pub board: String,
    /// Number of CPUs [default: as the board file says]. The board qemu has up
    /// to 8 with a GICv2; with a GICv3 up to 32 under TF-A and 512 under
    /// QEMU's own PSCI.
    #[arg(long, value_name = "N")]
    pub smp: Option<u32>,
    /// Interrupt controller of machine, firmware and device tree [default: as
    /// the board file says].
    #[arg(long, value_name = "2|3")]
    pub gic: Option<Gic>,
    /// Exception level at which the payload is entered [default: 2; a guest of
    /// KVM has EL1].
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub el: Option<u8>,
    /// CPU model, as QEMU calls it [default: as the board file says].
    #[arg(long, value_name = "MODEL")]
    pub cpu: Option<String>,
    /// PSCI of TF-A at EL3, of QEMU itself (no power-down, no PMF), or of KVM,
    /// as a guest of an emulated Linux with 2 CPUs unless --smp says otherwise:
    /// it fetches Debian's kernel and QEMU for arm64, 62 MB, once.
    #[arg(long, value_enum, default_value_t = Firmware::TfA)]
    pub firmware: Firmware,
    /// Variant of TF-A: coherency=hw|sw, gic-reset=0|1, pmf=new|sip|off,
    /// state-id=original|extended, timer-stop=0|1, faults=0|1, osi=0|1, with commas
    /// between [default: the first of each].
    #[arg(long, value_name = "K=V,…")]
    pub variant: Option<Variant>,
    /// A fault that TF-A is to have: a word of the table in
    /// platforms/qemu/tf-a/README.md, then cpu=MPIDR, skip=N, count=N, arg=N
    /// as needed, with commas between. Implies faults=1.
    #[arg(long, value_name = "SPEC", value_parser = fault::check)]
    pub fault: Option<String>,
    /// A TF-A checkout, from 2.12 on, instead of Debian's source package.
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
    /// Count instructions instead of time, on one CPU of the host: runs repeat
    /// byte for byte, on a busy host with rare exceptions.
    #[arg(long)]
    pub icount: bool,
    /// Boot arguments, such as 'iterations=100 method=warm'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
    /// End QEMU after so many seconds [default: 120, or what --smp and --args
    /// ask for, whichever is more: 0.025 for each sample of each CPU, in each
    /// step of a sweep, and somewhat more than twice `duration=` for each
    /// stretch of timer_latency; five times that under KVM].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX))]
    pub timeout: Option<u64>,
    /// Append this device tree instead of one made of the board file.
    #[arg(long, value_name = "FILE")]
    pub dtb: Option<PathBuf>,
    /// Run this file as BL33, as it is, instead of building the payload.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["args", "dtb", "state_format", "core"])]
    pub image: Option<PathBuf>,
    /// Idle states of the device tree that is made of the board file.
    #[command(flatten)]
    pub states: GivenStates,
}

pub(super) fn run(arguments: &QemuArguments) -> Result<u8> {
    if let Some(log) = &arguments.log {
        check_log(log, &arguments.run)?;
    }
    let spec = RunSpec {
        log: arguments.log.clone(),
        ..spec(&arguments.run)?
    };
    let interrupt = super::common::interruption()?;
    let result = run::run(&spec, &interrupt, &mut Out::default())?;
    let mut end = result.line();
    if let Some(reason) = diagnosis::full_reason(&result.log) {
        end = format!("{end}: {reason}");
    }
    say(&end);
    for position in &result.positions {
        say(position);
    }
    let code = result.exit_code();
    if arguments.deny_skipped && code == 0 {
        let runs = read_bytes("the UART", &result.log)?;
        if let Some(denied) = runs.last().and_then(LoggedRun::denied) {
            say(&denied);
            return Ok(FAILED);
        }
    }
    Ok(code)
}

/// Refuses a log that cannot be written, or that is a file of the run.
pub(super) fn check_log(log: &Path, run: &RunArguments) -> Result<()> {
    let inputs = [
        ("--dtb", run.dtb.as_deref()),
        ("--image", run.image.as_deref()),
    ];
    files::check(("--log", log), &inputs)
}

/// Returns the run that is asked for; its UART goes to no file.
pub(super) fn spec(arguments: &RunArguments) -> Result<RunSpec> {
    if arguments.firmware != Firmware::TfA {
        let name = arguments.firmware.name();
        for (option, given) in [
            ("--variant", arguments.variant.is_some()),
            ("--fault", arguments.fault.is_some()),
            (
                "--tf-a",
                arguments.tf_a.is_some() && !arguments.firmware.is_tf_a(),
            ),
        ] {
            if given {
                bail!(
                    "{option} is about TF-A as it is built for --firmware tf-a, and this is --firmware {name}"
                );
            }
        }
    }
    if arguments.firmware == Firmware::Kvm && arguments.el == Some(2) {
        bail!("--el 2: a guest of KVM is entered at EL1");
    }
    let plan = plan(arguments.args.as_deref())?;
    let of_kvm = arguments.firmware == Firmware::Kvm;
    let cpus = arguments.smp.or(of_kvm.then_some(kvm_host::CPUS));
    let timeout = match (arguments.timeout, cpus) {
        (Some(seconds), _) => Duration::from_secs(seconds),
        (None, Some(cpus)) if of_kvm => kvm_host::timeout(timeout::timeout(cpus, &plan)),
        (None, Some(cpus)) => timeout::timeout(cpus, &plan),
        (None, None) => {
            let board = board::load(&Workspace::find()?, &arguments.board)?;
            timeout::timeout(board.default_cpus()?, &plan)
        }
    };
    Ok(RunSpec {
        board: arguments.board.clone(),
        smp: arguments.smp,
        gic: arguments.gic,
        level: if arguments.el == Some(1) {
            Level::El1
        } else {
            Level::El2
        },
        cpu: arguments.cpu.clone(),
        firmware: arguments.firmware,
        variant: arguments.variant.unwrap_or_default(),
        fault: arguments.fault.clone(),
        tf_a: arguments.tf_a.clone(),
        icount: arguments.icount,
        args: arguments.args.clone(),
        tree: match &arguments.dtb {
            Some(path) => Tree::File(path.clone()),
            None => Tree::Board,
        },
        states: arguments.states,
        payload: match &arguments.image {
            Some(path) => Payload::Image(read_file::read("--image", path, flash::IMAGE_MAX)?),
            None => Payload::Build,
        },
        timeout,
        log: None,
    })
}
