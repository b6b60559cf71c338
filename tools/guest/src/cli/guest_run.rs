//! `cargo xtask guest run`.

use std::path::PathBuf;

use anyhow::Result;
use boards::GicVersion;
use clap::Args;
use follow::stream::TIMEOUT_MAX_S;
use runner::build::firmware_kind::FirmwareKind;
use runner::qemu::Level;
use runner::qemu::run_arguments::RunArguments;
use runner::qemu::run_spec::RunSpec;
use runner::qemu::shown_run::ShownRun;

use crate::kvm_host;
use crate::loader::LinuxWithKvm;

/// Run the payload as a KVM guest; the exit code shows the verdict.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  {program} guest run
  {program} guest run --args 'only=micro loops=4096 batch=64'

The first run fetches 62 MB. Details: tools/guest/README.md")]
pub struct GuestRunArguments {
    /// Number of CPUs of the host and of the guest.
    #[arg(long, value_name = "N", default_value_t = kvm_host::CPUS)]
    pub smp: u32,
    /// GIC version [default: 3].
    #[arg(long, value_name = "2|3")]
    pub gic: Option<GicVersion>,
    /// QEMU CPU model of the host.
    #[arg(long, value_name = "MODEL", default_value = kvm_host::CPU)]
    pub cpu: String,
    /// Count instructions, for byte-identical runs.
    #[arg(long)]
    pub icount: bool,
    /// Boot arguments, such as 'iterations=100'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Append this device tree instead of the board's.
    #[arg(long, value_name = "FILE")]
    pub dtb: Option<PathBuf>,
    /// Run this file as the guest (its device tree is kept).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["args", "dtb"])]
    pub image: Option<PathBuf>,
    /// Time limit in seconds [default: the plan's].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX_S))]
    pub timeout: Option<u64>,
    /// Also write the UART output to this file.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Also show records on a terminal.
    #[arg(long)]
    pub records: bool,
}

impl GuestRunArguments {
    /// Returns the requested run.
    fn to_spec(&self) -> Result<RunSpec> {
        let run = RunArguments {
            spec: RunSpec {
                smp: Some(self.smp),
                gic: self.gic,
                level: Level::El1,
                cpu: Some(self.cpu.clone()),
                firmware: FirmwareKind::Builtin,
                icount: self.icount,
                args: self.args.clone(),
                ..RunSpec::default()
            },
            timeout: self.timeout,
            dtb: self.dtb.clone(),
            image: self.image.clone(),
            bl32: None,
        };
        if let Some(log) = &self.log {
            run.check_log(log)?;
        }
        let mut spec = run.to_spec()?;
        if self.timeout.is_none() {
            spec.timeout = kvm_host::guest_timeout(spec.timeout);
        }
        Ok(spec)
    }
}

pub(super) fn run(arguments: &GuestRunArguments) -> Result<u8> {
    let shown = ShownRun {
        spec: arguments.to_spec()?,
        loader: &LinuxWithKvm,
        log: arguments.log.as_deref(),
        has_records: arguments.records,
    };
    Ok(shown.run()?.exit_code())
}
