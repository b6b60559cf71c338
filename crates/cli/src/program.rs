//! A program's `main`.

use std::env;
use std::ffi::OsString;

use anyhow::Result;
use clap::{Command, Parser};
use host::exit_code::{self, BAD};
use host::retired;

use super::help_text::complete;

/// The command that runs `cargo xtask`, which is also the first argument of the programs that it
/// starts.
pub const XTASK: &str = "cargo xtask";

/// The version of all programs, which is the workspace's.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The widest help text, in characters.
const HELP_WIDTH: usize = 80;

/// Returns the definition of the command line of `P`, with `name` as the program name in its help,
/// and the properties that all programs have.
pub fn command<P: Parser>(name: &'static str) -> Command {
    let command = P::command().name(name).bin_name(name);
    let command = command.version(VERSION).max_term_width(HELP_WIDTH);
    complete(command, name)
}

/// Parses the arguments of this process, calls `run` and returns the exit code. Help texts contain
/// `name`, or `cargo xtask` if that started this process.
pub fn run_program<P: Parser>(name: &'static str, run: impl FnOnce(P) -> Result<u8>) -> u8 {
    let arguments: Vec<OsString> = env::args_os().collect();
    let is_xtask = arguments.first().is_some_and(|first| first == XTASK);
    let command = command::<P>(if is_xtask { XTASK } else { name });
    run_command(command, arguments, run)
}

/// Parses `arguments`, which start with the program name, calls `run` and returns the exit code.
pub fn run_command<P: Parser>(
    command: Command,
    arguments: Vec<OsString>,
    run: impl FnOnce(P) -> Result<u8>,
) -> u8 {
    let verb = arguments.get(1).and_then(|word| word.to_str());
    let is_known = verb.is_some_and(|verb| command.find_subcommand(verb).is_some());
    if !is_known && let Err(error) = retired::check_verb(&arguments) {
        return exit_code::from_result(Err(error));
    }
    let matches = command.try_get_matches_from(arguments);
    match matches.and_then(|matches| P::from_arg_matches(&matches)) {
        Ok(parsed) => exit_code::from_result(run(parsed)),
        Err(error) => {
            // A closed stdout does not change the exit code.
            let _ = error.print();
            if error.use_stderr() { BAD } else { 0 }
        }
    }
}
