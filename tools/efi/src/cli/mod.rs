//! The command line, one verb per file.

mod efi_build;
mod efi_run;
mod signer_arguments;
mod stick;
#[cfg(test)]
mod tests;

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;
use host::interrupt;

use self::efi_build::EfiBuildArguments;
use self::efi_run::EfiRunArguments;
use self::stick::StickArguments;

/// The program name.
const PROGRAM: &str = "psci-efi";

/// Starts psci-bench as an EFI application.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} stick -o stick.img
  {program} efi run

{exit-codes}
Details: tools/efi/README.md")]
struct Program {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make an EFI application that starts the payload, or run it on QEMU.
    #[command(after_help = "\
Examples:
  {program} efi build -o BOOTAA64.EFI
  {program} efi run --by u-boot

Details: tools/efi/README.md")]
    Efi {
        #[command(subcommand)]
        verb: EfiVerb,
    },
    Stick(StickArguments),
}

#[derive(Debug, Subcommand)]
enum EfiVerb {
    Build(EfiBuildArguments),
    Run(Box<EfiRunArguments>),
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
            Verb::Efi {
                verb: EfiVerb::Build(arguments),
            } => efi_build::run(&arguments),
            Verb::Efi {
                verb: EfiVerb::Run(arguments),
            } => efi_run::run(&arguments),
            Verb::Stick(arguments) => stick::run(&arguments),
        }
    })
}
