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
use super::first_verb::FirstVerb;
#[cfg(feature = "full")]
use super::full::{self, FullVerb};
#[cfg(not(feature = "full"))]
use super::full_program;
use super::qemu;
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
pub struct XtaskArguments {
    /// The verb.
    #[command(subcommand)]
    pub verb: XtaskVerb,
}

/// A command.
#[derive(Subcommand)]
pub enum XtaskVerb {
    /// A verb that each build of the program has.
    #[command(flatten)]
    First(FirstVerb),
    /// A verb of the full program.
    #[cfg(feature = "full")]
    #[command(flatten)]
    Full(Box<FullVerb>),
}

/// Runs the tool with `arguments`, the program's name first, and returns its
/// exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    #[cfg(not(feature = "full"))]
    if full_program::is_needed(&arguments) {
        return exit_code::of(full_program::run(&arguments));
    }
    let parsed = match XtaskArguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // A closed stdout is no reason to change what happened.
            let _ = error.print();
            return if error.use_stderr() { BAD } else { 0 };
        }
    };
    exit_code::of(run(parsed.verb))
}

fn run(verb: XtaskVerb) -> Result<u8> {
    match verb {
        XtaskVerb::First(verb) => {
            interrupt::watch()?;
            run_first(verb)
        }
        // A report builds nothing, and may read for long.
        #[cfg(feature = "full")]
        XtaskVerb::Full(verb) => {
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
