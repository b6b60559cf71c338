//! Tests the definition of the `psci-report` command line, and its help.

use super::documented::{help_examples, page_examples, pages};
use super::help_style::check_help;
use super::program::command;

const PROGRAM: &str = "psci-report";

#[test]
fn definition_is_sound() {
    command().debug_assert();
}

#[test]
fn help_of_each_verb_fits_a_terminal() {
    check_help(&command());
}

#[test]
fn documented_commands_are_accepted() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut examples = help_examples(&command(), PROGRAM);
    for (_, page) in pages(&root) {
        examples.extend(page_examples(&page, PROGRAM));
    }
    assert!(examples.len() > 15, "{}", examples.len());
    for example in examples {
        let words = [PROGRAM.to_owned()].into_iter().chain(example.words);
        let parsed = command().try_get_matches_from(words);
        assert!(parsed.is_ok(), "{}: {parsed:?}", example.line);
    }
}
