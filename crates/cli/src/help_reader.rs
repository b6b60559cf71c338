//! Reads what a shell completes from help files, without building the programs that wrote them.

use std::fs;

use clap::{Arg, ArgAction, Command};

use super::tool_package::{ToolPackage, ToolVerb};

/// The start of an option without a short name.
const LONG_ONLY: &str = "      --";
/// The start of an option with a short name, which `, --` separates from the long one.
const SHORT: &str = "  -";

/// Returns `verb` of `package` with the options and the inner verbs that its help file lists. The
/// definition is for completion: what the options accept is not in it.
pub fn read_verb(package: &ToolPackage, verb: &ToolVerb) -> Command {
    read(package, &[&verb.name]).about(&verb.summary)
}

/// Returns the verb of `package` at `path`. A verb without a help file has no options.
fn read(package: &ToolPackage, path: &[&str]) -> Command {
    let name = path.last().copied().unwrap_or_default();
    let help = fs::read_to_string(package.help_file(path)).unwrap_or_default();
    let options = section(&help, "Options:").filter_map(option);
    let mut command = Command::new(name.to_owned()).args(options);
    for line in section(&help, "Commands:") {
        let inner = line
            .strip_prefix("  ")
            .and_then(|line| line.split_once("  "));
        if let Some((name, summary)) = inner.filter(|(name, _)| !name.is_empty()) {
            let inner = read(package, &[path, &[name]].concat());
            command = command.subcommand(inner.about(summary.trim().to_owned()));
        }
    }
    command
}

/// Returns the lines below `heading`.
fn section<'h>(help: &'h str, heading: &str) -> impl Iterator<Item = &'h str> {
    let lines = help.lines().skip_while(move |line| *line != heading);
    lines.skip(1).take_while(|line| !line.is_empty())
}

/// Returns the option that starts on `line`, except `--help`, which every command has.
fn option(line: &str) -> Option<Arg> {
    let (short, rest) = match line.strip_prefix(LONG_ONLY) {
        Some(rest) => (None, rest),
        None => {
            let (short, rest) = line.strip_prefix(SHORT)?.split_once(", --")?;
            (Some(short.parse().ok()?), rest)
        }
    };
    let (option, summary) = rest.split_once("  ").unwrap_or((rest, ""));
    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
    let action = if value.is_empty() {
        ArgAction::SetTrue
    } else {
        ArgAction::Append
    };
    let arg = Arg::new(name.to_owned()).long(name.to_owned()).short(short);
    let arg = arg.action(action).help(summary.trim().to_owned());
    (name != "help").then_some(arg)
}
