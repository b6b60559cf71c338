//! The `psci-report` program: the report verbs of `cargo xtask`, usable without a checkout.

use clap::Parser;
use cli::program;
use host::exit_code::EXIT_CODES;

use super::verb::ReportVerb;

/// Turns psci-bench logs into tables, comparisons and pages.
#[derive(Debug, Parser)]
#[command(
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

/// The program name.
const PROGRAM: &str = "psci-report";

/// Returns the definition of the command line, with `name` as the program name.
pub fn command(name: &'static str) -> clap::Command {
    program::command::<Program>(name)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    program::run_program(PROGRAM, |program: Program| program.verb.run())
}
