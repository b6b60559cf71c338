//! Tests the definition of the command line, its help, and the documented commands.

use std::path::Path;

use cli::documented::accepted_examples;
use cli::help_files;
use cli::help_style::check_help;
use cli::program::XTASK;

use super::command;

#[test]
fn definition_is_sound() {
    command(XTASK).debug_assert();
}

#[test]
fn help_of_each_verb_fits_a_terminal() {
    check_help(&command(XTASK));
}

#[test]
fn xtask_lists_the_verbs_and_has_their_help() {
    help_files::check(&command(XTASK), Path::new(env!("CARGO_MANIFEST_DIR")));
}

/// The examples run QEMU, so they are only parsed.
#[test]
fn documented_commands_are_accepted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let examples = accepted_examples(&command(XTASK), &root);
    assert!(examples.len() > 2, "{}", examples.len());
}
