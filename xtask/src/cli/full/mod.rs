//! The verbs of the full program, one file each, and the options of `qemu` that read reports.

mod boards;
pub(super) mod deny_skipped;
mod fip;
mod image;
mod image_source;
mod lab;
mod ledger;
pub(super) mod overhead;
mod profile;
mod soak;
mod stick;
#[cfg(test)]
mod tests;
mod tree;
mod verify;

use anyhow::Result;
use clap::Subcommand;
use report::cli::report::{ReportArguments, after_help};

use self::fip::verbs::FipVerb;
use self::image::ImageArguments;
use self::lab::LabArguments;
use self::ledger::LedgerArguments;
use self::profile::ProfileArguments;
use self::soak::SoakArguments;
use self::stick::StickArguments;
use self::tree::TreeVerb;
use self::verify::VerifyArguments;
use crate::soak::fuzz;

/// A verb of the full program.
#[derive(Subcommand)]
pub enum FullVerb {
    /// List the boards that are described, and what can be measured on them.
    ///
    /// With a name, show one board in full: CPUs, power states, where its file
    /// goes. A board is described by platforms/NAME/board.toml; docs/boards.md
    /// says how to write one.
    #[command(after_help = "Examples:
  cargo xtask boards
  cargo xtask boards juno")]
    Boards {
        /// A folder of platforms/.
        name: Option<String>,
    },
    /// Build the payload with a device tree appended, as BL33 for a board, or
    /// as an EFI application.
    Image(ImageArguments),
    /// Make a medium from which EFI starts the payload by itself.
    ///
    /// It has the EFI application of `image --efi`, and a script that starts
    /// the application where an EFI shell comes first.
    Stick(StickArguments),
    /// Make device trees.
    #[command(after_help = "Example:
  cargo xtask tree from-acpi /sys/firmware/acpi/tables -o board.dtb")]
    Tree {
        /// The verb of the tree.
        #[command(subcommand)]
        verb: TreeVerb,
    },
    /// Make, inspect and change Firmware Image Packages.
    #[command(after_help = "Examples:
  cargo xtask fip info fip.bin
  cargo xtask fip build --board juno --base fip.bin -o new.bin")]
    Fip {
        /// The verb of the FIP.
        #[command(subcommand)]
        verb: FipVerb,
    },
    /// Run on QEMU, and attribute each timed call to firmware functions.
    ///
    /// Counts the instructions of BL31 between PMF's timestamps, by stacks of
    /// functions, and refuses to print anything if their number is not PMF's in
    /// each phase of each sample. docs/profile.md says how to read it.
    Profile(ProfileArguments),
    /// Profile each commit of a TF-A checkout, and name those that change a
    /// figure.
    ///
    /// Each commit is unpacked, built and measured by itself; the checkout stays
    /// as it is. Commits with the same firmware are measured once. Results are
    /// kept in target/psci-bench/ledger, so that an interrupted ledger goes on.
    Ledger(LedgerArguments),
    /// Repeat runs on QEMU, keep the logs of those that do not pass, and sum
    /// up.
    ///
    /// Firmware and payload are built once. Ctrl-C ends the run in hand,
    /// which is not counted then, and the sums are printed.
    Soak(SoakArguments),
    #[command(after_help = after_help("cargo xtask"))]
    Report(ReportArguments),
    /// Check the payload's cache maintenance, which QEMU cannot show, by a model
    /// of caches on whole runs and by mutations that it must find.
    ///
    /// docs/verification.md says what that proves, and what not.
    Verify(VerifyArguments),
    /// Write jobs for lab engines, LAVA or labgrid: each board with each
    /// firmware is a cell, a folder with all that its engine takes.
    ///
    /// docs/labs.md says how they are run, here or in a lab. What an engine
    /// gives goes into the cell's folder results, where `cargo xtask report
    /// --matrix` reads it.
    Lab(LabArguments),
    /// Fuzz all that reads outside input, and tell what is found.
    ///
    /// Starts from the seeds in fuzz/seeds and from what former runs kept in
    /// target/psci-bench/fuzz, where each finding is put, too.
    #[command(after_help = "Examples:
  cargo xtask fuzz
  cargo xtask fuzz fip device_tree --seconds 600 --jobs 2")]
    Fuzz {
        /// Which targets [default: all].
        #[arg(value_name = "TARGET", value_parser = fuzz::TARGETS)]
        targets: Vec<String>,
        /// Time for each target.
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=fuzz::SECONDS_MAX))]
        seconds: u32,
        /// Number of targets at a time [default: as many as the host has CPUs].
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        jobs: Option<u16>,
    },
}

pub(super) fn run(verb: FullVerb) -> Result<u8> {
    match verb {
        FullVerb::Boards { name } => boards::run(name.as_deref()),
        FullVerb::Image(arguments) => image::run(&arguments),
        FullVerb::Stick(arguments) => stick::run(&arguments),
        FullVerb::Tree { verb } => tree::run(verb),
        FullVerb::Fip { verb } => fip::verbs::run(verb),
        FullVerb::Profile(arguments) => profile::run(&arguments),
        FullVerb::Ledger(arguments) => ledger::run(&arguments),
        FullVerb::Verify(arguments) => verify::run(&arguments),
        FullVerb::Soak(arguments) => soak::run(&arguments),
        FullVerb::Lab(arguments) => lab::run(&arguments),
        FullVerb::Report(arguments) => report::cli::report::run(&arguments),
        FullVerb::Fuzz {
            targets,
            seconds,
            jobs,
        } => Ok(u8::from(!fuzz::run(&targets, seconds, jobs)?)),
    }
}
