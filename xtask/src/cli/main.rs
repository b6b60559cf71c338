//! The command line.
//!
//! `cargo xtask` builds this program without the `full` feature. This build contains only the verbs
//! that a new user needs first; they have few dependencies. For any other verb, it builds and runs
//! the full program.

use std::ffi::OsString;

use anyhow::Result;
use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use host::exit_code::{self, BAD, EXIT_CODES};
use host::{interrupt, retired};

use super::first_verb::FirstVerb;
#[cfg(feature = "full")]
use super::full::{self, FullVerb};
#[cfg(not(feature = "full"))]
use super::full_program;
use super::{qemu, repeat, test};

/// The help template, which mentions `--help` instead of listing it as an option.
const HELP: &str = "\
{about}

{usage-heading} {usage}

Verbs (VERB --help shows a verb's options):
{subcommands}{after-help}";

/// Measures what PSCI calls cost on AArch64; start with `cargo xtask qemu`.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    disable_help_subcommand = true,
    max_term_width = 80,
    subcommand_value_name = "VERB",
    help_template = HELP,
    after_help = format!("\
Examples:
  cargo xtask qemu                               # the six tables, on QEMU
  cargo xtask report run.log --open              # tables and charts of a log

{EXIT_CODES}"),
)]
pub struct XtaskArguments {
    /// The verb.
    #[command(subcommand)]
    pub verb: XtaskVerb,
}

/// A command.
#[derive(Subcommand)]
pub enum XtaskVerb {
    /// A verb that every build of the program includes.
    #[command(flatten)]
    First(FirstVerb),
    /// A verb that only the full program has.
    #[cfg(feature = "full")]
    #[command(flatten)]
    Full(Box<FullVerb>),
}

/// Returns the definition of the command line.
pub fn command() -> Command {
    let command = XtaskArguments::command();
    #[cfg(feature = "full")]
    let command = report::cli::name_program(command, "cargo xtask");
    command
}

/// Runs the tool with `arguments`, which start with the program name, and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Err(error) = retired::check_verb(&arguments) {
        return exit_code::from_result(Err(error));
    }
    #[cfg(not(feature = "full"))]
    if full_program::is_needed(&arguments) {
        return exit_code::from_result(full_program::run(&arguments));
    }
    let matches = command().try_get_matches_from(arguments);
    let parsed = match matches.and_then(|matches| XtaskArguments::from_arg_matches(&matches)) {
        Ok(parsed) => parsed,
        Err(error) => {
            // A closed stdout does not change the exit code.
            let _ = error.print();
            return if error.use_stderr() { BAD } else { 0 };
        }
    };
    exit_code::from_result(run(parsed.verb))
}

fn run(verb: XtaskVerb) -> Result<u8> {
    match verb {
        XtaskVerb::First(verb) => {
            interrupt::watch()?;
            run_first(verb)
        }
        // A report verb builds nothing and may take a long time to read its input, so Ctrl-C simply
        // kills it. `follow` watches for Ctrl-C itself.
        #[cfg(feature = "full")]
        XtaskVerb::Full(verb) => {
            if !matches!(*verb, FullVerb::Reports(_)) {
                interrupt::watch()?;
            }
            full::run(*verb)
        }
    }
}

fn run_first(verb: FirstVerb) -> Result<u8> {
    match verb {
        #[cfg(feature = "full")]
        FirstVerb::Qemu(arguments) if arguments.deny_skipped => full::deny_skipped::run(&arguments),
        FirstVerb::Qemu(arguments) => match arguments.repeat {
            Some(count) => repeat::run(&arguments, count),
            None => Ok(qemu::run(&arguments)?.exit_code()),
        },
        FirstVerb::Test(arguments) => test::run(&arguments),
        FirstVerb::Setup => test::run_setup(),
    }
}
