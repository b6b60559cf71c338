//! The program and its verbs.

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;

use super::audit::AuditArguments;
use super::publish::PublishArguments;

/// Publishes a board's figures in TF-A's documentation, and audits its pages.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} publish new.log --platform juno ../trusted-firmware-a
  {program} audit docs/perf/psci-performance-juno.rst

{exit-codes}
Details: tools/tf-a-pages/README.md")]
struct Program {
    #[command(subcommand)]
    verb: PageVerb,
}

#[derive(Debug, Subcommand)]
enum PageVerb {
    /// Add a board's figures and its page to the TF-A docs.
    Publish(PublishArguments),
    /// Check the changes on a published page against its tables.
    Audit(AuditArguments),
}

impl PageVerb {
    fn run(&self) -> Result<u8> {
        match self {
            Self::Publish(arguments) => arguments.run(),
            Self::Audit(arguments) => arguments.run(),
        }
    }
}

/// The program name.
const PROGRAM: &str = "psci-tf-a-pages";

/// Returns the definition of the command line, with `name` as the program name.
pub fn command(name: &'static str) -> clap::Command {
    program::command::<Program>(name)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    program::run_program(PROGRAM, |program: Program| program.verb.run())
}
