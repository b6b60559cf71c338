//! A tip for boot arguments that are not part of `--args`.

use std::ffi::OsString;

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The option that takes boot arguments, all in one word.
const OPTION: &str = "--args";

/// Returns `error` with a tip if it is about a word such as `only=fitness`, which is probably a boot
/// argument. `arguments` are the command line.
pub fn with_tip(mut error: Error, arguments: &[OsString]) -> Error {
    let is_boot_argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => is_pair(word),
        _ => false,
    };
    if is_boot_argument && error.kind() == ErrorKind::UnknownArgument {
        let words = boot_arguments(arguments).join(" ");
        let tip = format!("boot arguments are one word: {OPTION} '{words}'");
        let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// Returns the words that are probably boot arguments. The value of any other option is not one.
fn boot_arguments(arguments: &[OsString]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut option = "";
    for word in arguments.iter().filter_map(|word| word.to_str()) {
        let value = word.strip_prefix("--args=").unwrap_or(word);
        if is_pair(value) && (option.is_empty() || option == OPTION) {
            found.push(value);
        }
        let is_option = word.starts_with('-') && value == word;
        option = if is_option { word } else { "" };
    }
    found
}

/// Returns true for a word such as `only=fitness`.
fn is_pair(word: &str) -> bool {
    let key = word.split_once('=').map_or("", |(key, _)| key);
    key.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    #[test]
    fn boot_arguments_are_quoted_in_a_tip() {
        let tip = "tip: boot arguments are one word: --args 'only=fitness iterations=5'";
        for (line, expected) in [
            ("run --args only=fitness iterations=5", Some(tip)),
            ("run --args=only=fitness iterations=5", Some(tip)),
            ("run only=fitness iterations=5", Some(tip)),
            ("run --variant pmf=off only=fitness iterations=5", Some(tip)),
            ("run fitness", None),
            ("run --only=fitness", None),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let options = ["args", "variant"].map(|name| Arg::new(name).long(name));
            let command = Command::new("run").args(options);
            let error = command.try_get_matches_from(&arguments).expect_err(line);
            let text = with_tip(error, &arguments).to_string();
            assert_eq!(text.contains("tip: boot"), expected.is_some(), "{text}");
            assert!(expected.is_none_or(|tip| text.contains(tip)), "{text}");
        }
    }
}
