//! The wishes for a run.

use std::path::PathBuf;
use std::time::Duration;

use boards::GicVersion;
use clap::builder::TypedValueParser;
use clap::{Arg, Args, Command, FromArgMatches};

use super::timeout::LEAST;
use crate::build::GivenStates;
use crate::build::firmware::{Variant, fault};
use crate::build::firmware_kind::FirmwareKind;
use crate::build::payload::TreeSource;

/// The exception level that BL33 is entered at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// EL1: the machine has no EL2.
    El1,
    /// EL2.
    El2,
}

/// The source of BL33.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// The payload of this repository, built if it is stale.
    #[default]
    Build,
    /// These bytes, as they are.
    Image(Vec<u8>),
}

/// A run that is asked for. `Default` is that of `cargo xtask qemu` without arguments.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RunSpec {
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
    pub gic: Option<GicVersion>,
    /// Exception level at which the payload is entered [default: 2; a guest of
    /// KVM has EL1].
    #[arg(
        long = "el",
        value_name = "1|2",
        default_value = "2",
        hide_default_value = true
    )]
    #[arg(default_value_if("firmware", "kvm", "1"), value_parser = level())]
    pub level: Level,
    /// CPU model, as QEMU calls it [default: as the board file says].
    #[arg(long, value_name = "MODEL")]
    pub cpu: Option<String>,
    /// PSCI of TF-A at EL3, of QEMU itself (no power-down, no PMF), or of KVM,
    /// as a guest of an emulated Linux with 2 CPUs unless --smp says otherwise:
    /// it fetches Debian's kernel and QEMU for arm64, 62 MB, once. Or an EFI
    /// application begins the payload: of EDK2 with QEMU's PSCI and a device
    /// tree (efi) or ACPI tables (efi-acpi), or of U-Boot under TF-A (u-boot).
    #[arg(long, value_enum, default_value_t = FirmwareKind::TfA)]
    pub firmware: FirmwareKind,
    /// Variant of TF-A: coherency=hw|sw, gic-reset=0|1, pmf=new|sip|off,
    /// state-id=original|extended, timer-stop=0|1, faults=0|1, osi=0|1,
    /// cpu-on-race=MICROSECONDS, cpu-on-answer=success|failure, with commas between
    /// [default: the first of each, and no race].
    #[arg(
        long,
        value_name = "K=V,…",
        default_value = "",
        hide_default_value = true
    )]
    pub variant: Variant,
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
    /// Idle states of the device tree that is made of the board file.
    #[command(flatten)]
    pub states: GivenStates,
    /// The device tree.
    #[arg(skip)]
    pub tree: TreeSource,
    /// BL33.
    #[arg(skip)]
    pub payload: Payload,
    /// The longest time that QEMU may run.
    #[arg(skip = LEAST)]
    pub timeout: Duration,
}

impl RunSpec {
    /// Reads options, whose words are separated by blanks.
    ///
    /// # Errors
    /// As the command line: for an unknown option or a wrong value.
    pub fn parse(options: &str) -> Result<Self, clap::Error> {
        // The options of idle states conflict with this one.
        let command = Command::new("run").arg(Arg::new("dtb"));
        let command = Self::augment_args(command);
        let words = ["run"].into_iter().chain(options.split_whitespace());
        Self::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            board: "qemu".to_owned(),
            smp: None,
            gic: None,
            level: Level::El2,
            cpu: None,
            firmware: FirmwareKind::TfA,
            variant: Variant::default(),
            fault: None,
            tf_a: None,
            icount: false,
            args: None,
            states: GivenStates::default(),
            tree: TreeSource::default(),
            payload: Payload::default(),
            timeout: LEAST,
        }
    }
}

fn level() -> impl TypedValueParser<Value = Level> {
    let number = clap::value_parser!(u8).range(1..=2);
    number.map(|number| [Level::El1, Level::El2][usize::from(number == 2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_the_command_line_without_arguments() {
        let parsed = RunSpec::parse("").expect("no argument is required");
        assert_eq!(parsed, RunSpec::default());
        assert!(RunSpec::parse("--smp many").is_err());
    }
}
