//! The program and its verb.

use anyhow::Result;
use clap::{Parser, Subcommand};
use cli::program;

use super::audit_idle::AuditIdleArguments;

/// Compares declared idle states with each other and with measured ones.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  {program} audit-idle --tree board.dtb
  {program} audit-idle idle.log --tree board.dtb

{exit-codes}
Details: tools/idle-audit/README.md")]
struct Program {
    #[command(subcommand)]
    verb: IdleVerb,
}

#[derive(Debug, Subcommand)]
enum IdleVerb {
    /// Check declared idle states against each other and against logs.
    AuditIdle(AuditIdleArguments),
}

impl IdleVerb {
    fn run(&self) -> Result<u8> {
        match self {
            Self::AuditIdle(arguments) => arguments.run(),
        }
    }
}

/// The program name.
const PROGRAM: &str = "psci-idle-audit";

/// Returns the definition of the command line, with `name` as the program name.
pub fn command(name: &'static str) -> clap::Command {
    program::command::<Program>(name)
}

/// Runs the program with the arguments of this process and returns its exit code.
pub fn main() -> u8 {
    program::run_program(PROGRAM, |program: Program| program.verb.run())
}
