//! A tip for boot arguments that are not part of `--args`.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, Error};

/// The option that takes boot arguments, all in one word.
const OPTION: &str = "--args";

/// Returns `error` with a tip if it is about a word such as `only=fitness`, which is probably a boot
/// argument, and if the verb of `command` takes boot arguments. `arguments` are the command line.
pub fn with_tip(mut error: Error, command: &Command, arguments: &[OsString]) -> Error {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let verb = words.iter().find_map(|word| command.find_subcommand(word));
    let command = verb.unwrap_or(command);
    let takes_boot_arguments = option(command, OPTION).is_some();
    let is_boot_argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => is_pair(word),
        _ => false,
    };
    if takes_boot_arguments && is_boot_argument && error.kind() == ErrorKind::UnknownArgument {
        let words = boot_arguments(command, &words).join(" ");
        let tip = format!("quote all boot arguments as one word: {OPTION} '{words}'");
        let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// Returns the words that are probably boot arguments. The value of another option is not one.
fn boot_arguments<'w>(command: &Command, words: &[&'w str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut is_value_of_other = false;
    for word in words {
        let value = word.strip_prefix("--args=").unwrap_or(word);
        if is_pair(value) && !is_value_of_other {
            found.push(value);
        }
        let takes_value = option(command, word).is_some_and(|option| {
            matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
        });
        is_value_of_other = takes_value && *word != OPTION;
    }
    found
}

/// Returns the option of `command` that is written as `word`.
fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let name = word.strip_prefix("--")?;
    let mut options = command.get_arguments();
    options.find(|option| option.get_long() == Some(name))
}

/// Returns true for a word such as `only=fitness`.
fn is_pair(word: &str) -> bool {
    let key = word.split_once('=').map_or("", |(key, _)| key);
    key.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_arguments_are_quoted_in_a_tip() {
        let tip = "tip: quote all boot arguments as one word: --args 'only=fitness iterations=5'";
        for (line, expected) in [
            ("run --args only=fitness iterations=5", Some(tip)),
            ("run --args=only=fitness iterations=5", Some(tip)),
            ("run only=fitness iterations=5", Some(tip)),
            ("run --variant pmf=off only=fitness iterations=5", Some(tip)),
            ("run --icount only=fitness iterations=5", Some(tip)),
            ("run fitness", None),
            ("run --only=fitness", None),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let options = ["args", "variant"].map(|name| Arg::new(name).long(name));
            let flag = Arg::new("icount").long("icount").action(ArgAction::SetTrue);
            let command = Command::new("run").args(options).arg(flag);
            let parsed = command.clone().try_get_matches_from(&arguments);
            let text = with_tip(parsed.expect_err(line), &command, &arguments).to_string();
            assert_eq!(text.contains("tip: quote"), expected.is_some(), "{text}");
            assert!(expected.is_none_or(|tip| text.contains(tip)), "{text}");
        }
    }
}
