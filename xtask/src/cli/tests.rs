//! The definition of the commands and their help.

use clap::CommandFactory;

use super::main::Arguments;

#[test]
fn the_definition_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn every_command_has_examples() {
    let all = Arguments::command();
    for command in all.get_subcommands() {
        let has_own = command.has_subcommands();
        for command in command.get_subcommands().chain([command]) {
            let help = command.get_after_help().map(ToString::to_string);
            let name = command.get_name();
            let group = has_own && name == "fip";
            assert!(group || help.is_some_and(|help| help.contains("Example")));
        }
    }
}
