//! The `psci-report` program: the report verbs of `cargo xtask`, usable without a checkout.

use clap::Parser;
use cli::program;

use super::verb::ReportVerb;

/// Turns psci-bench logs into tables, comparisons and pages.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} report run.log --open
  {program} compare old.log new.log

{exit-codes}
Details: docs/report.md")]
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
