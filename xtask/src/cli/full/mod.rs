//! The verbs of the full program, one per file, and the `qemu` option that reads a log.

mod bisect;
mod boards;
mod commits;
pub(super) mod deny_skipped;
mod efi;
mod fip;
mod image;
mod image_source;
mod lab;
mod ledger;
mod payload;
mod profile;
mod stick;
#[cfg(test)]
mod tests;
mod tree;
mod verify;

use anyhow::Result;
use clap::Subcommand;
use report::cli::ReportVerb;

use self::bisect::BisectArguments;
use self::boards::BoardsArguments;
use self::efi::EfiArguments;
use self::fip::verbs::FipVerb;
use self::image::ImageArguments;
use self::lab::LabVerb;
use self::ledger::LedgerArguments;
use self::payload::PayloadArguments;
use self::profile::ProfileArguments;
use self::stick::StickArguments;
use self::tree::TreeVerb;
use self::verify::VerifyArguments;

/// A verb of the full program.
#[derive(Subcommand)]
pub enum FullVerb {
    Boards(BoardsArguments),
    Image(ImageArguments),
    Payload(PayloadArguments),
    Efi(EfiArguments),
    Stick(StickArguments),
    /// Make, inspect and change Firmware Image Packages.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  cargo xtask fip info fip.bin
  cargo xtask fip pack --board juno --base fip.bin -o new.bin

Details: docs/fip.md")]
    Fip {
        /// The `fip` verb.
        #[command(subcommand)]
        verb: FipVerb,
    },
    /// Make device trees, and print what the payload reads from one.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  cargo xtask tree from-acpi /sys/firmware/acpi/tables
  cargo xtask tree from-acpi tables -o board.dtb
  cargo xtask tree show board.dtb

Details: docs/device-trees.md, docs/efi.md")]
    Tree {
        /// The `tree` verb.
        #[command(subcommand)]
        verb: TreeVerb,
    },
    /// A verb for logs and published tables.
    #[command(flatten)]
    Reports(ReportVerb),
    Profile(ProfileArguments),
    Ledger(LedgerArguments),
    Bisect(BisectArguments),
    /// Write a job for LAVA or labgrid.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  cargo xtask lab lava -o lab
  docs/ci/lab.sh lab              # runs all jobs in lab/

Details: docs/labs.md")]
    Lab {
        /// The engine.
        #[command(subcommand)]
        verb: LabVerb,
    },
    Verify(VerifyArguments),
}

pub(super) fn run(verb: FullVerb) -> Result<u8> {
    match verb {
        FullVerb::Boards(arguments) => boards::run(&arguments),
        FullVerb::Image(arguments) => image::run(&arguments),
        FullVerb::Payload(arguments) => payload::run(&arguments),
        FullVerb::Efi(arguments) => efi::run(&arguments),
        FullVerb::Stick(arguments) => stick::run(&arguments),
        FullVerb::Fip { verb } => fip::verbs::run(verb),
        FullVerb::Tree { verb } => tree::run(verb),
        FullVerb::Reports(verb) => verb.run(),
        FullVerb::Profile(arguments) => profile::run(&arguments),
        FullVerb::Ledger(arguments) => ledger::run(&arguments),
        FullVerb::Bisect(arguments) => bisect::run(&arguments),
        FullVerb::Lab { verb } => lab::run(&verb),
        FullVerb::Verify(arguments) => verify::run(&arguments),
    }
}
