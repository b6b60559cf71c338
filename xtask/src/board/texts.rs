//! The rules for names and sentences in board files.

use std::fmt::Arguments;

use super::board::Board;
use super::fault::{Fault, require};

/// A rule for a text, and its words for an error.
type Rule = (fn(&str) -> bool, &'static str);

const TITLE: Rule = (
    |text| is_line(text) && text.len() <= 100,
    "one line of printable ASCII, at most 100 characters, is needed",
);
const NOTE: Rule = (
    |text| is_line(text) && text.len() <= 600,
    "one line of printable ASCII, at most 600 characters, is needed",
);
const SENTENCE: Rule = (
    |text| !text.trim().is_empty() && !text.chars().any(char::is_control),
    "a sentence or two on one line are needed",
);
const FILE: Rule = (
    |text| is_plain(text, "-_.") && !text.starts_with('.'),
    "the name of a file is needed: letters, digits, '-', '_' and '.'",
);
const WORD: Rule = (
    |text| is_plain(text, "-_."),
    "a name of letters, digits, '-', '_' and '.' is needed",
);
const NODE: Rule = (
    |text| is_plain(text, "-") && text.len() <= 31,
    "a node's name is needed: up to 31 letters, digits and dashes",
);
const PROMPT: Rule = (
    |text| !text.is_empty() && is_printable(text),
    "printable ASCII is needed",
);
const IN_ZIP: Rule = (
    |text| {
        let is_step = |part: &str| !matches!(part, "" | "." | "..");
        is_printable(text) && !text.contains('\\') && text.split('/').all(is_step)
    },
    "the name of a file in a zip is needed, as in SOFTWARE/fip.bin",
);
const CPU: Rule = (
    |text| {
        let named = text.split_once(',');
        let is_named = named.is_some_and(|(vendor, model)| !vendor.is_empty() && !model.is_empty());
        is_named && is_plain(text, ",-._+")
    },
    "a CPU's name with its vendor is needed, such as \"arm,cortex-a53\"",
);

fn is_printable(text: &str) -> bool {
    text.chars().all(|c| (' '..='~').contains(&c))
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && is_printable(text)
}

fn is_plain(text: &str, also: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    !text.is_empty() && text.chars().all(plain)
}

fn each(path: Arguments<'_>, texts: &Option<String>, rule: Rule) -> Result<(), Fault> {
    texts.iter().try_for_each(|text| one(path, text, rule))
}

fn one(path: Arguments<'_>, text: &str, (allows, words): Rule) -> Result<(), Fault> {
    require(allows(text), path, format_args!("{text:?}: {words}"))
}

/// Refuses the first text that breaks its rule.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    one(format_args!("title"), &board.title, TITLE)?;
    each(format_args!("note"), &board.note, NOTE)?;
    for (index, part) in board.reserved.iter().enumerate() {
        one(format_args!("reserved[{index}].name"), &part.name, NODE)?;
    }
    for (index, name) in board.cpus.compatible.iter().flatten().enumerate() {
        one(format_args!("cpus.compatible[{index}]"), name, CPU)?;
    }
    for (name, firmware) in &board.firmware {
        each(format_args!("firmware.{name}.note"), &firmware.note, NOTE)?;
        for (index, state) in firmware.idle_state.iter().enumerate() {
            let path = format_args!("firmware.{name}.idle-state[{index}].name");
            one(path, &state.name, NODE)?;
        }
    }
    if let Some(package) = &board.package {
        one(format_args!("package.file"), &package.file, FILE)?;
        one(format_args!("package.install"), &package.install, SENTENCE)?;
        each(format_args!("package.tool"), &package.tool, SENTENCE)?;
        for (index, part) in package.parts.iter().enumerate() {
            let path = format_args!("package.parts[{index}].file");
            one(path, &part.file, FILE)?;
        }
    }
    if let Some(lab) = &board.lab {
        one(format_args!("lab.device-type"), &lab.device_type, WORD)?;
        each(format_args!("lab.console"), &lab.console, WORD)?;
        each(format_args!("lab.prompt"), &lab.prompt, PROMPT)?;
        one(format_args!("lab.recovery"), &lab.recovery, IN_ZIP)?;
    }
    Ok(())
}
