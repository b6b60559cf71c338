//! The `psci-labs` program.

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;
use host::interrupt;

use super::lab_verb::{self, LabVerb};

/// Writes jobs that measure PSCI calls in a lab.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} lab lava -o lab

{exit-codes}
Details: tools/labs/README.md")]
struct Program {
    #[command(subcommand)]
    verb: LabsVerb,
}

/// The only verb, so that the command line is the same under `cargo xtask`.
#[derive(Debug, Subcommand)]
enum LabsVerb {
    /// Write a job for LAVA or labgrid.
    #[command(after_help = "\
Examples:
  {program} lab lava -o lab
  tools/labs/lab.sh lab           # runs all jobs in lab/

Details: tools/labs/README.md")]
    Lab {
        /// The engine.
        #[command(subcommand)]
        verb: LabVerb,
    },
}

/// The program name.
const PROGRAM: &str = "psci-labs";

/// Returns the definition of the command line, with `name` as the program name.
pub fn command(name: &'static str) -> clap::Command {
    program::command::<Program>(name)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    program::run_program(PROGRAM, run)
}

fn run(program: Program) -> Result<u8> {
    interrupt::watch()?;
    let LabsVerb::Lab { verb } = program.verb;
    lab_verb::run(&verb)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cli::program_tests::check_program;

    use super::*;

    #[test]
    fn command_line_is_sound_and_documented() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        check_program(PROGRAM, command, folder, 4);
    }
}
