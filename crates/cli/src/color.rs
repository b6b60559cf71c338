//! The option `--color`, which all programs have.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, ColorChoice, Command};

/// The name of the option.
const NAME: &str = "color";
/// The option as it is written.
const OPTION: &str = "--color";
const ALWAYS: &str = "always";
const NEVER: &str = "never";
/// Colors only on a terminal, and only if NO_COLOR is not set.
const AUTO: &str = "auto";

/// Adds the option to `command` and its subcommands.
pub fn with_option(command: Command) -> Command {
    let values = PossibleValuesParser::new([AUTO, ALWAYS, NEVER]);
    let option = Arg::new(NAME)
        .long(NAME)
        .value_name("WHEN")
        .help("Color the text: auto, always or never")
        .value_parser(values)
        .default_value(AUTO)
        .hide_possible_values(true)
        .hide_default_value(true)
        // Just before --help.
        .display_order(998)
        .global(true);
    command.arg(option)
}

/// Returns `command` with help and errors in the colors that `arguments` request, which may be
/// invalid. They start with the program name.
pub fn styled(command: Command, arguments: &[OsString]) -> Command {
    let has = |value: &str| {
        let joined = format!("{OPTION}={value}");
        let mut pairs = arguments.windows(2);
        arguments.iter().any(|word| *word == *joined)
            || pairs.any(|pair| pair[0] == OPTION && pair[1] == value)
    };
    if has(NEVER) {
        command.color(ColorChoice::Never)
    } else if has(ALWAYS) {
        command.color(ColorChoice::Always)
    } else {
        command
    }
}

/// Enables or disables colors as the parsed arguments request.
pub fn apply(matches: &ArgMatches) {
    let value = matches.get_one::<String>(NAME).map(String::as_str);
    let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    // CLICOLOR_FORCE enables colors even in files, so the terminal is checked, too.
    let [of_terminal_stdout, of_terminal_stderr] = [
        io::stdout().is_terminal() && console::colors_enabled(),
        io::stderr().is_terminal() && console::colors_enabled_stderr(),
    ];
    let [of_stdout, of_stderr] = match value {
        Some(ALWAYS) => [true; 2],
        Some(NEVER) => [false; 2],
        _ => [of_terminal_stdout, of_terminal_stderr].map(|has_color| has_color && !no_color),
    };
    console::set_colors_enabled(of_stdout);
    console::set_colors_enabled_stderr(of_stderr);
}

/// Returns the verb in `arguments`, which start with the program name. The option may precede it.
pub fn verb(arguments: &[OsString]) -> Option<&str> {
    let mut words = arguments.iter().skip(1);
    let mut word = words.next()?.to_str()?;
    loop {
        if word == OPTION {
            words.next()?;
        } else if !word.starts_with(&format!("{OPTION}=")) {
            return Some(word);
        }
        word = words.next()?.to_str()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verb_may_follow_the_option() {
        for (line, expected) in [
            ("program report", Some("report")),
            ("program --color never report", Some("report")),
            (
                "program --color=never report --color always",
                Some("report"),
            ),
            ("program --help", Some("--help")),
            ("program --color never", None),
            ("program", None),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(verb(&arguments), expected, "{line}");
        }
    }

    #[test]
    fn the_option_is_accepted_after_the_verb() {
        let command = || with_option(Command::new("program").subcommand(Command::new("verb")));
        for (line, value) in [
            ("program verb --color never", NEVER),
            ("program --color always verb", ALWAYS),
            ("program verb", AUTO),
        ] {
            let matches = command().get_matches_from(line.split(' '));
            let found = matches.get_one::<String>(NAME);
            assert_eq!(found.map(String::as_str), Some(value), "{line}");
        }
        let refused = command().try_get_matches_from(["program", "--color", "often"]);
        let error = refused.expect_err("no such value").to_string();
        assert!(error.contains("auto, always, never"), "{error}");
    }
}
