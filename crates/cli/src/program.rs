//! A program's `main`.

use std::env;
use std::ffi::OsString;

use anyhow::Result;
use clap::{Command, Parser};
use host::exit_code::{self, BAD};
use host::retired;
use host::stdout::Out;

use super::boot_argument_tip::with_tip;
use super::color;
use super::completions;
use super::help_text::complete;

pub use super::help_text::XTASK;

/// The name that `--version` prints: all programs have the same version.
const PROJECT: &str = "psci-bench";
/// The version of all programs, which is the workspace's.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that this program was built from, if build.rs found it.
const COMMIT: Option<&str> = option_env!("PSCI_BENCH_COMMIT");

/// The widest help text, in characters.
const HELP_WIDTH: usize = 80;

/// Returns the definition of the command line of `P`, with `name` as the program name in its help,
/// and the properties that all programs have. If `name` is `cargo xtask`, there is no verb
/// `completions`: only `cargo xtask` itself adds it.
pub fn command<P: Parser>(name: &'static str) -> Command {
    let command = P::command().name(name).bin_name(name);
    let command = command.display_name(PROJECT).version(version(COMMIT));
    let command = command.max_term_width(HELP_WIDTH);
    let command = color::with_option(complete(command, name));
    if name == XTASK {
        command
    } else {
        with_completions(command)
    }
}

/// Returns `command` with the verb `completions`.
pub fn with_completions(command: Command) -> Command {
    let verb = completions::verb(command.get_name());
    let verb = complete(verb, command.get_name());
    command.subcommand(verb)
}

/// Returns the version of all programs, built from `commit` if that is known.
pub fn version(commit: Option<&str>) -> String {
    match commit {
        Some(commit) => format!("{VERSION} ({commit})"),
        None => VERSION.to_owned(),
    }
}

/// Parses the arguments of this process, calls `run` and returns the exit code. Help texts contain
/// `name`, or `cargo xtask` if that started this process.
pub fn run_program<P: Parser>(name: &'static str, run: impl FnOnce(P) -> Result<u8>) -> u8 {
    let arguments: Vec<OsString> = env::args_os().collect();
    let is_xtask = arguments.first().is_some_and(|first| first == XTASK);
    let command = command::<P>(if is_xtask { XTASK } else { name });
    run_command(command, arguments, run)
}

/// Parses `arguments`, which start with the program name, calls `run` and returns the exit code. The
/// verb `completions` is done here, for all programs.
pub fn run_command<P: Parser>(
    command: Command,
    arguments: Vec<OsString>,
    run: impl FnOnce(P) -> Result<u8>,
) -> u8 {
    if let Some(verb) = color::verb(&arguments)
        && command.find_subcommand(verb).is_none()
        && let Err(error) = retired::check_verb(verb)
    {
        return exit_code::from_result(Err(error));
    }
    let styled = color::styled(command.clone(), &arguments);
    let matches = styled
        .try_get_matches_from(&arguments)
        .map_err(|error| with_tip(error, &command, &arguments));
    if let Ok(matches) = &matches
        && let Some((completions::VERB, shell)) = matches.subcommand()
    {
        let written = completions::write(shell, &command, &mut Out::default());
        return exit_code::from_result(written.map(|()| 0).map_err(Into::into));
    }
    let parsed = matches.and_then(|matches| {
        color::apply(&matches);
        P::from_arg_matches(&matches)
    });
    match parsed {
        Ok(parsed) => exit_code::from_result(run(parsed)),
        Err(error) => {
            // A closed stdout does not change the exit code.
            let _ = error.print();
            if error.use_stderr() { BAD } else { 0 }
        }
    }
}
