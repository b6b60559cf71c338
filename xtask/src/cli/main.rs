//! The command line.

use std::ffi::OsString;

use anyhow::Result;
use clap::{Parser, Subcommand};
use host::exit_code::{self, BAD};
use host::interrupt;
use report::cli::report::{ReportArguments, after_help};

use super::common::EXIT_CODES;
use super::fip::verbs::FipVerb;
use super::image::ImageArguments;
use super::lab::LabArguments;
use super::ledger::LedgerArguments;
use super::profile::ProfileArguments;
use super::qemu::QemuArguments;
use super::soak::SoakArguments;
use super::stick::StickArguments;
use super::test;
use super::tree::TreeVerb;
use super::verify::VerifyArguments;
use crate::soak::fuzz;

/// psci-bench measures what PSCI calls cost on AArch64, on a board or on QEMU. Begin with
/// `cargo xtask qemu`, which installs what it needs.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = format!("\
{EXIT_CODES}

Examples:
  cargo xtask qemu                                 # the six tables, on QEMU under real TF-A
  cargo xtask image --board rpi4 -o kernel8.img    # the file that a board boots
  cargo xtask report run.log --format html -o run.html"))]
pub struct Arguments {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

/// A command.
#[derive(Subcommand)]
pub enum Verb {
    /// Install what `cargo xtask test` needs, and fetch TF-A's source.
    ///
    /// The README lists what is installed. g++, cargo-fuzz and the Rust target
    /// for musl are not among it: `fuzz` and runs under KVM install them. Each
    /// command installs what it needs by itself, too. With
    /// PSCI_BENCH_NO_INSTALL=1 in the environment nothing is installed: the
    /// commands are printed, and the exit code is 2.
    #[command(after_help = "Examples:
  cargo xtask setup
  PSCI_BENCH_NO_INSTALL=1 cargo xtask setup     # only tell what is missing")]
    Setup,
    /// List the boards that are described, and what can be measured on them.
    ///
    /// With a name, tell all of one board: CPUs, power states, where its file
    /// goes. A board is described by platforms/NAME/board.toml; docs/boards.md
    /// says how to write one.
    #[command(after_help = "Examples:
  cargo xtask boards
  cargo xtask boards juno")]
    Boards {
        /// A folder of platforms/.
        name: Option<String>,
    },
    /// Build the payload and append a device tree: BL33 for a board; or make an
    /// EFI application of it.
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
    /// Run on QEMU, under real TF-A, and exit by the verdict.
    Qemu(QemuArguments),
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
    /// Set up what is missing, and run all tests.
    #[command(after_help = "Examples:
  cargo xtask test
  cargo xtask test -- fip        # tests with fip in their name
  cargo xtask test --trees       # the trees of Linux's boards, alone
  cargo xtask test --kvm         # as a guest under KVM, alone")]
    Test {
        /// Only the test that is not among them: the device trees of all of
        /// Linux's boards. It fetches Debian's kernel for arm64, 90 MB, once.
        #[arg(long, conflicts_with = "filter")]
        trees: bool,
        /// Only the tests as a guest under KVM, in an emulated Linux, which are
        /// not among them either. They take minutes, and fetch Debian's kernel
        /// and QEMU for arm64, 62 MB, once.
        #[arg(long, conflicts_with_all = ["filter", "trees"])]
        kvm: bool,
        /// Parts of tests' names, after `--`; options of test programs show all
        /// output.
        #[arg(last = true)]
        filter: Vec<String>,
    },
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

/// Runs the tool with `arguments`, the program's name first, and returns its
/// exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // A closed stdout is no reason to change what happened.
            let _ = error.print();
            return if error.use_stderr() { BAD } else { 0 };
        }
    };
    exit_code::of(run(parsed.verb))
}

fn run(verb: Verb) -> Result<u8> {
    // A report builds nothing, and may read for long.
    if !matches!(verb, Verb::Report(_)) {
        interrupt::watch()?;
    }
    match verb {
        Verb::Setup => test::run_setup(),
        Verb::Boards { name } => super::boards::run(name.as_deref()),
        Verb::Image(arguments) => super::image::run(&arguments),
        Verb::Stick(arguments) => super::stick::run(&arguments),
        Verb::Tree { verb } => super::tree::run(verb),
        Verb::Fip { verb } => super::fip::verbs::run(verb),
        Verb::Qemu(arguments) if arguments.overhead => super::overhead::on_qemu(&arguments),
        Verb::Qemu(arguments) => super::qemu::run(&arguments),
        Verb::Profile(arguments) => super::profile::run(&arguments),
        Verb::Ledger(arguments) => super::ledger::run(&arguments),
        Verb::Verify(arguments) => super::verify::run(&arguments),
        Verb::Soak(arguments) => super::soak::run(&arguments),
        Verb::Lab(arguments) => super::lab::run(&arguments),
        Verb::Report(arguments) => report::cli::report::run(&arguments),
        Verb::Fuzz {
            targets,
            seconds,
            jobs,
        } => Ok(u8::from(!fuzz::run(&targets, seconds, jobs)?)),
        Verb::Test { trees, kvm, filter } => test::run(trees, kvm, &filter),
    }
}
