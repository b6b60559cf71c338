//! The command line.

mod guest_run;
#[cfg(test)]
mod tests;

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;
use host::interrupt;

use self::guest_run::GuestRunArguments;

/// The program name.
const PROGRAM: &str = "psci-guest";

/// Runs psci-bench as a KVM guest.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} guest run

{exit-codes}
Details: tools/guest/README.md")]
struct Program {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the payload as a KVM guest on an emulated Linux host.
    #[command(after_help = "\
Examples:
  {program} guest run --args 'only=micro loops=4096 batch=64'

Details: tools/guest/README.md")]
    Guest {
        #[command(subcommand)]
        verb: GuestVerb,
    },
}

#[derive(Debug, Subcommand)]
enum GuestVerb {
    Run(Box<GuestRunArguments>),
}

/// Returns the definition of the command line, with `name` as the program name.
pub fn command(name: &'static str) -> clap::Command {
    program::command::<Program>(name)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    program::run_program(PROGRAM, |program: Program| -> Result<u8> {
        interrupt::watch()?;
        let Verb::Guest { verb } = program.verb;
        let GuestVerb::Run(arguments) = verb;
        guest_run::run(&arguments)
    })
}
