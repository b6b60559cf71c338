//! The `psci-report` program: the report verbs of `cargo xtask`, usable without a checkout.

use std::env;
use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use host::exit_code::{self, EXIT_CODES};
use host::retired;

use super::program_name::name_program;
use super::verb::ReportVerb;

/// Turns psci-bench logs into tables, comparisons and published pages.
#[derive(Debug, Parser)]
#[command(
    name = PROGRAM,
    version,
    disable_help_subcommand = true,
    max_term_width = 80,
    after_help = format!("\
Examples:
  {{program}} report run.log --open
  {{program}} compare old.log new.log

{EXIT_CODES}
Details: docs/report.md")
)]
struct Program {
    #[command(subcommand)]
    verb: ReportVerb,
}

const PROGRAM: &str = "psci-report";

/// Returns the definition of the command line.
pub fn command() -> clap::Command {
    name_program(Program::command(), PROGRAM)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    let arguments: Vec<OsString> = env::args_os().collect();
    if let Err(error) = retired::check_verb(&arguments) {
        return exit_code::from_result(Err(error));
    }
    let matches = command().get_matches_from(arguments);
    let program = Program::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    exit_code::from_result(program.verb.run())
}
