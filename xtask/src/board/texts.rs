//! The rules for names and sentences in board files.

use std::fmt::Arguments;

use regex::Regex;

use super::board::Board;
use super::fault::{Fault, require};

/// A regular expression for a text, and the rule in words for an error.
type Rule = (&'static str, &'static str);

const TITLE: Rule = (
    "^[!-~][ -~]{0,99}$",
    "one line of printable ASCII, at most 100 characters, is needed",
);
const NOTE: Rule = (
    "^[!-~][ -~]{0,599}$",
    "one line of printable ASCII, at most 600 characters, is needed",
);
const SENTENCE: Rule = (
    r"^[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$",
    "a sentence or two on one line are needed",
);
const FILE: Rule = (
    "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$",
    "the name of a file is needed: letters, digits, '-', '_' and '.'",
);
const WORD: Rule = (
    "^[A-Za-z0-9_.-]+$",
    "a name of letters, digits, '-', '_' and '.' is needed",
);
const NODE: Rule = (
    "^[A-Za-z0-9-]{1,31}$",
    "a node's name is needed: up to 31 letters, digits and dashes",
);
const PROMPT: Rule = ("^[ -~]+$", "printable ASCII is needed");
const IN_ZIP: Rule = (
    r"^[A-Za-z0-9][ -.0-\[\]-~]*(/[A-Za-z0-9][ -.0-\[\]-~]*)*$",
    "the name of a file in a zip is needed, as in SOFTWARE/fip.bin",
);
const CPU: Rule = (
    "^[A-Za-z0-9_.+-]+,[A-Za-z0-9_,.+-]+$",
    "a CPU's name with its vendor is needed, such as \"arm,cortex-a53\"",
);

fn each(path: Arguments<'_>, texts: &Option<String>, rule: Rule) -> Result<(), Fault> {
    texts.iter().try_for_each(|text| one(path, text, rule))
}

fn one(path: Arguments<'_>, text: &str, (pattern, words): Rule) -> Result<(), Fault> {
    let is_allowed = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
    require(is_allowed, path, format_args!("{text:?}: {words}"))
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
