//! The `psci-gem5` program.

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;

use super::gem5_verb::{self, Gem5Arguments};

/// Runs psci-bench on a machine that gem5 simulates.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} gem5 --gem5 ../gem5

{exit-codes}
Details: tools/gem5/README.md")]
struct Program {
    #[command(subcommand)]
    verb: Verb,
}

/// The only verb, so that the command line is the same under `cargo xtask`.
#[derive(Debug, Subcommand)]
enum Verb {
    Gem5(Box<Gem5Arguments>),
}

/// The program name.
const PROGRAM: &str = "psci-gem5";

/// Returns the definition of the command line, with `name` as the program name.
pub fn command(name: &'static str) -> clap::Command {
    program::command::<Program>(name)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    program::run_program(PROGRAM, |program: Program| -> Result<u8> {
        let Verb::Gem5(arguments) = program.verb;
        gem5_verb::run(&arguments)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cli::program_tests::check_program;

    use super::*;

    #[test]
    fn command_line_is_sound_and_documented() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        check_program(PROGRAM, command, folder, 3);
    }
}
