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
    let (groups, single) = all
        .get_subcommands()
        .partition::<Vec<_>, _>(|it| it.has_subcommands());
    let inner = groups.iter().flat_map(|group| group.get_subcommands());
    for command in single.into_iter().chain(inner) {
        let help = command.get_after_help().map(ToString::to_string);
        assert!(help.is_some_and(|help| help.contains("Example")));
    }
}
