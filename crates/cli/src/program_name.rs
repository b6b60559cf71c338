//! Inserts the program name into the help of the verbs that two programs have in common.

use clap::Command;

/// The placeholder for the program name in the examples of shared verbs.
const PROGRAM: &str = "{program}";

/// Returns `command` with `program` inserted into its examples and explicit usage lines.
pub fn name_program(command: Command, program: &str) -> Command {
    let mut named = command.clone();
    if let Some(text) = command.get_after_help() {
        named = named.after_help(text.to_string().replace(PROGRAM, program));
    }
    let usage = command.clone().render_usage().to_string();
    if let Some(usage) = usage.strip_prefix("Usage: ")
        && usage.contains(PROGRAM)
    {
        named = named.override_usage(usage.replace(PROGRAM, program));
    }
    named.mut_subcommands(|verb| name_program(verb, program))
}
