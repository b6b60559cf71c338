//! Completes the help texts of a program: the properties that all programs have in common, and the
//! name of the program that runs a verb.

use clap::Command;
use host::exit_code::EXIT_CODES;

/// The command that runs `cargo xtask`, which is also the first argument of the programs that it
/// starts.
pub const XTASK: &str = "cargo xtask";

/// The placeholder for the program name.
pub(super) const PROGRAM: &str = "{program}";

/// Returns `command` and its subcommands without a `help` subcommand, with `{program}` replaced by
/// `program` in their examples and explicit usage lines, and `{exit-codes}` by the exit codes.
pub fn complete(command: Command, program: &str) -> Command {
    let name = |text: String| {
        let named = text.replace(PROGRAM, program);
        named.replace("{exit-codes}", EXIT_CODES)
    };
    let mut completed = command.clone().disable_help_subcommand(true);
    if let Some(text) = command.get_after_help() {
        completed = completed.after_help(name(text.to_string()));
    }
    let usage = command.clone().render_usage().to_string();
    if let Some(usage) = usage.strip_prefix("Usage: ")
        && usage.contains(PROGRAM)
    {
        completed = completed.override_usage(name(usage.to_owned()));
    }
    completed.mut_subcommands(|verb| complete(verb, program))
}
