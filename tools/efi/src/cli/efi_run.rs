//! `cargo xtask efi run`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use boards::GicVersion;
use clap::Args;
use follow::stream::TIMEOUT_MAX_S;
use runner::build::firmware::FirmwareVariant;
use runner::qemu::Level;
use runner::qemu::run_arguments::RunArguments;
use runner::qemu::run_spec::{RunSpec, level};
use runner::qemu::shown_run::ShownRun;
use runner::setup::workspace::Workspace;

use crate::loaders::EfiLoader;

/// Run the EFI application on QEMU; the exit code shows the verdict.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  {program} efi run --args 'core=0x1 deepest=0x2'
  {program} efi run --by u-boot --args 'core=0x10002 deepest=0x2010222'

The application uses the machine's own tables, which describe no idle states;
core= and deepest= name them. Details: tools/efi/README.md")]
pub struct EfiRunArguments {
    /// What starts the application: edk2, edk2-acpi, u-boot.
    #[arg(long, value_enum, value_name = "LOADER", default_value_t = EfiLoader::Edk2)]
    #[arg(hide_possible_values = true)]
    pub by: EfiLoader,
    /// Number of CPUs [default: 8].
    #[arg(long, value_name = "N")]
    pub smp: Option<u32>,
    /// GIC version [default: 3].
    #[arg(long, value_name = "2|3")]
    pub gic: Option<GicVersion>,
    /// Entry exception level [default: 2].
    #[arg(
        long = "el",
        value_name = "1|2",
        default_value = "2",
        hide_default_value = true
    )]
    #[arg(value_parser = level())]
    pub level: Level,
    /// QEMU CPU model.
    #[arg(long, value_name = "MODEL")]
    pub cpu: Option<String>,
    /// TF-A variant, with --by u-boot.
    #[arg(
        long,
        value_name = "K=V,…",
        default_value = "",
        hide_default_value = true
    )]
    pub variant: FirmwareVariant,
    /// TF-A checkout to build, with --by u-boot.
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
    /// Count instructions, for byte-identical runs.
    #[arg(long)]
    pub icount: bool,
    /// Boot arguments, such as 'iterations=100'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
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

impl EfiRunArguments {
    /// Returns the requested run.
    fn to_spec(&self) -> Result<RunSpec> {
        let run = RunArguments {
            spec: RunSpec {
                smp: self.smp,
                gic: self.gic,
                level: self.level,
                cpu: self.cpu.clone(),
                firmware: self.by.firmware(),
                variant: self.variant,
                tf_a: self.tf_a.clone(),
                icount: self.icount,
                args: self.args.clone(),
                ..RunSpec::default()
            },
            timeout: self.timeout,
            dtb: None,
            image: None,
            bl32: None,
        };
        if self.by != EfiLoader::UBoot
            && (self.tf_a.is_some() || self.variant != FirmwareVariant::default())
        {
            bail!("--variant and --tf-a apply to TF-A, which only --by u-boot starts");
        }
        if let Some(log) = &self.log {
            run.check_log(log)?;
        }
        run.to_spec()
    }
}

pub(super) fn run(arguments: &EfiRunArguments) -> Result<u8> {
    let mut spec = arguments.to_spec()?;
    spec.payload = arguments.by.bl33(&Workspace::find()?)?;
    let shown = ShownRun {
        spec,
        loader: arguments.by.as_static(),
        log: arguments.log.as_deref(),
        has_records: arguments.records,
    };
    Ok(shown.run()?.exit_code())
}
