//! The command line.
//!
//! `cargo xtask` builds this program without the feature `full`: it then has the verbs of the first
//! minutes, which need few packages. For any other verb it builds the full program and runs that.

use std::ffi::OsString;

use anyhow::Result;
use clap::{Parser, Subcommand};
use host::exit_code::{self, BAD};
use host::interrupt;

use super::common::EXIT_CODES;
#[cfg(feature = "full")]
use super::full::{self, FullVerb};
#[cfg(not(feature = "full"))]
use super::full_program;
use super::qemu::{self, QemuArguments};
use super::test;

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
    /// A verb that each build of the program has.
    #[command(flatten)]
    First(FirstVerb),
    /// A verb of the full program.
    #[cfg(feature = "full")]
    #[command(flatten)]
    Full(Box<FullVerb>),
}

/// The commands of the first minutes.
#[derive(Subcommand)]
pub enum FirstVerb {
    /// Run on QEMU, under real TF-A, and exit by the verdict.
    Qemu(Box<QemuArguments>),
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
}

/// Runs the tool with `arguments`, the program's name first, and returns its
/// exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    #[cfg(not(feature = "full"))]
    if full_program::is_needed(&arguments) {
        return exit_code::of(full_program::run(&arguments));
    }
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
    match verb {
        Verb::First(verb) => {
            interrupt::watch()?;
            run_first(verb)
        }
        // A report builds nothing, and may read for long.
        #[cfg(feature = "full")]
        Verb::Full(verb) => {
            if !matches!(*verb, FullVerb::Report(_)) {
                interrupt::watch()?;
            }
            full::run(*verb)
        }
    }
}

fn run_first(verb: FirstVerb) -> Result<u8> {
    match verb {
        #[cfg(feature = "full")]
        FirstVerb::Qemu(arguments) if arguments.overhead => full::overhead::on_qemu(&arguments),
        #[cfg(feature = "full")]
        FirstVerb::Qemu(arguments) if arguments.deny_skipped => full::deny_skipped::run(&arguments),
        FirstVerb::Qemu(arguments) => Ok(qemu::run(&arguments)?.exit_code()),
        FirstVerb::Test { trees, kvm, filter } => test::run(trees, kvm, &filter),
        FirstVerb::Setup => test::run_setup(),
    }
}
