//! The options for a run.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use boards::GicVersion;
use clap::builder::TypedValueParser;
use clap::{Arg, Args, Command, FromArgMatches};

use super::timeout::TIMEOUT_MIN;
use crate::build::GivenStates;
use crate::build::firmware::{FirmwareVariant, fault};
use crate::build::firmware_kind::FirmwareKind;
use crate::build::payload::TreeSource;

/// The exception level at which BL33 is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// EL1: the machine has no EL2.
    El1,
    /// EL2.
    El2,
}

/// Where BL33 comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// This repository's payload, built if it is out of date.
    #[default]
    Build,
    /// These bytes. In an image of the payload, the digest of the run is set.
    Image(Vec<u8>),
}

/// A requested run. `Default` describes the run that `cargo xtask qemu` starts without arguments.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RunSpec {
    /// Board that QEMU emulates.
    #[arg(long, value_name = "NAME", default_value = "qemu")]
    pub board: String,
    /// Number of CPUs [default: the board file's].
    #[arg(long, value_name = "N")]
    pub smp: Option<u32>,
    /// GIC version [default: the board file's].
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
    /// QEMU CPU model [default: the board file's].
    #[arg(long, value_name = "MODEL")]
    pub cpu: Option<String>,
    /// Firmware: tf-a (default), tf-a-stock, builtin.
    #[arg(long, value_name = "NAME", value_parser = FirmwareKind::parse)]
    #[arg(default_value = FirmwareKind::TfA.name(), hide_default_value = true)]
    pub firmware: FirmwareKind,
    /// TF-A variant, such as coherency=sw,pmf=sip.
    #[arg(
        long,
        value_name = "K=V,…",
        default_value = "",
        hide_default_value = true
    )]
    pub variant: FirmwareVariant,
    /// Fault in TF-A, such as cpu-on-denied,cpu=0x3.
    #[arg(long, value_name = "SPEC", value_parser = fault::check_fault)]
    pub fault: Option<String>,
    /// TF-A checkout to build, 2.8 or later.
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
    /// The name of that source in messages [default: its version].
    #[arg(skip)]
    pub tf_a_title: Option<String>,
    /// Count instructions, for byte-identical runs.
    #[arg(long)]
    pub icount: bool,
    /// Boot arguments, such as 'iterations=100'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Idle states in the device tree built from the board file.
    #[command(flatten)]
    pub states: GivenStates,
    /// Where the payload's device tree comes from.
    #[arg(skip)]
    pub tree: TreeSource,
    /// BL32, if TF-A starts one.
    #[arg(skip)]
    pub bl32: Option<Vec<u8>>,
    /// BL33.
    #[arg(skip)]
    pub payload: Payload,
    /// True if QEMU runs on this host, so that the payload is told how many CPUs it has.
    #[arg(skip = true)]
    pub runs_here: bool,
    /// The maximum time for which QEMU may run.
    #[arg(skip = TIMEOUT_MIN)]
    pub timeout: Duration,
}

impl RunSpec {
    /// Parses options, which are separated by spaces.
    ///
    /// # Errors
    /// Returns an error for an unknown option or an invalid value, as on the command line.
    pub fn parse(options: &str) -> Result<Self, clap::Error> {
        // The idle state options conflict with `--dtb`, so that option must be defined too.
        let command = Self::augment_args(Command::new("run").arg(Arg::new("dtb")));
        let words = ["run"].into_iter().chain(options.split_whitespace());
        Self::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    /// Returns the number of CPUs: the requested number or the usual one.
    ///
    /// # Errors
    /// Returns an error if the board is unknown.
    pub fn cpus(&self) -> Result<u32> {
        match self.smp {
            Some(cpus) => Ok(cpus),
            None => boards::load(&self.board)?.default_cpus(),
        }
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
            variant: FirmwareVariant::default(),
            fault: None,
            tf_a: None,
            tf_a_title: None,
            icount: false,
            args: None,
            states: GivenStates::default(),
            tree: TreeSource::default(),
            bl32: None,
            payload: Payload::default(),
            runs_here: true,
            timeout: TIMEOUT_MIN,
        }
    }
}

/// Returns a parser for an exception level, 1 or 2.
pub fn level() -> impl TypedValueParser<Value = Level> {
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
