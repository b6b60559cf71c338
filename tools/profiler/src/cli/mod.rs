//! The command line, one verb per file.

mod bisect;
mod commits_arguments;
mod ledger;
mod profile;
#[cfg(test)]
mod tests;

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;
use host::interrupt;

use self::bisect::BisectArguments;
use self::ledger::LedgerArguments;
use self::profile::ProfileArguments;

/// The program name.
const PROGRAM: &str = "psci-profiler";

/// Attributes PSCI calls to firmware functions, commit by commit.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} profile --args only=susp_deep_serial
  {program} ledger v2.12..v2.13 --tf-a ../trusted-firmware-a

{exit-codes}
Details: tools/profiler/README.md")]
struct Program {
    #[command(subcommand)]
    verb: ProfilerVerb,
}

#[derive(Debug, Subcommand)]
enum ProfilerVerb {
    Profile(ProfileArguments),
    Ledger(LedgerArguments),
    Bisect(BisectArguments),
}

/// Returns the definition of the command line, with `name` as the program name.
pub fn command(name: &'static str) -> clap::Command {
    program::command::<Program>(name)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    program::run_program(PROGRAM, |program: Program| -> Result<u8> {
        interrupt::watch()?;
        match program.verb {
            ProfilerVerb::Profile(arguments) => profile::run(&arguments),
            ProfilerVerb::Ledger(arguments) => ledger::run(&arguments),
            ProfilerVerb::Bisect(arguments) => bisect::run(&arguments),
        }
    })
}
