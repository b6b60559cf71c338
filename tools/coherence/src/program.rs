//! The `psci-coherence` program.

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;
use host::interrupt;

use super::verify::{self, VerifyArguments};

/// Finds missing cache maintenance without hardware.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} verify --quick

{exit-codes}
Details: tools/coherence/README.md")]
struct Program {
    #[command(subcommand)]
    verb: CoherenceVerb,
}

/// The only verb, so that the command line is the same under `cargo xtask`.
#[derive(Debug, Subcommand)]
enum CoherenceVerb {
    Verify(VerifyArguments),
}

/// The program name.
const PROGRAM: &str = "psci-coherence";

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
    let CoherenceVerb::Verify(arguments) = program.verb;
    verify::run(&arguments)
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
