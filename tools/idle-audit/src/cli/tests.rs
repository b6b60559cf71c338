//! Tests the definition of the command line, and its help.

use std::path::Path;

use cli::help_files;
use cli::help_style::check_help;
use cli::program::XTASK;

use super::program::command;

#[test]
fn definition_is_sound() {
    command(XTASK).debug_assert();
}

#[test]
fn help_of_each_verb_fits_a_terminal() {
    check_help(&command("psci-idle-audit"));
}

#[test]
fn xtask_lists_the_verbs_and_has_their_help() {
    help_files::check(&command(XTASK), Path::new(env!("CARGO_MANIFEST_DIR")));
}
