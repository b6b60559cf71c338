//! The rules for names and sentences in board files.

use super::board::Board;
use super::fault::{Fault, refuse};

/// A rule for a text, with its words for an error.
struct Rule {
    allows: fn(&str) -> bool,
    words: &'static str,
}

const TITLE: Rule = Rule {
    allows: |text| is_line(text) && text.len() <= 100,
    words: "one line of printable ASCII, at most 100 characters, is needed",
};

const NOTE: Rule = Rule {
    allows: |text| is_line(text) && text.len() <= 600,
    words: "one line of printable ASCII, at most 600 characters, is needed",
};

const SENTENCE: Rule = Rule {
    allows: |text| !text.trim().is_empty() && !text.chars().any(char::is_control),
    words: "a sentence or two on one line are needed",
};

const FILE: Rule = Rule {
    allows: |text| is_plain(text, "-_.") && !text.starts_with('.'),
    words: "the name of a file is needed: letters, digits, '-', '_' and '.'",
};

const WORD: Rule = Rule {
    allows: |text| is_plain(text, "-_."),
    words: "a name of letters, digits, '-', '_' and '.' is needed",
};

const NODE: Rule = Rule {
    allows: |text| is_plain(text, "-") && text.len() <= 31,
    words: "a node's name is needed: up to 31 letters, digits and dashes",
};

const PROMPT: Rule = Rule {
    allows: |text| !text.is_empty() && is_printable(text),
    words: "printable ASCII is needed",
};

const IN_ZIP: Rule = Rule {
    allows: |text| {
        let is_step = |part: &str| !matches!(part, "" | "." | "..");
        is_printable(text) && !text.contains('\\') && text.split('/').all(is_step)
    },
    words: "the name of a file in a zip is needed, as in SOFTWARE/fip.bin",
};

const CPU: Rule = Rule {
    allows: |text| {
        let named = text.split_once(',');
        named.is_some_and(|(vendor, model)| !vendor.is_empty() && !model.is_empty())
            && is_plain(text, ",-._+")
    },
    words: "a CPU's name with its vendor is needed, such as \"arm,cortex-a53\"",
};

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

/// Refuses the first text that breaks its rule.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    let at = |path: &str| path.to_owned();
    let mut texts = vec![(at("title"), &board.title, TITLE)];
    texts.extend(board.note.iter().map(|note| (at("note"), note, NOTE)));
    for (index, part) in board.reserved.iter().enumerate() {
        texts.push((format!("reserved[{index}].name"), &part.name, NODE));
    }
    for (index, name) in board.cpus.compatible.iter().flatten().enumerate() {
        texts.push((format!("cpus.compatible[{index}]"), name, CPU));
    }
    for (name, firmware) in &board.firmware {
        let at = |key: &str| format!("firmware.{name}.{key}");
        texts.extend(firmware.note.iter().map(|note| (at("note"), note, NOTE)));
        for (index, state) in firmware.idle_state.iter().enumerate() {
            texts.push((at(&format!("idle-state[{index}].name")), &state.name, NODE));
        }
    }
    if let Some(package) = &board.package {
        texts.push((at("package.file"), &package.file, FILE));
        texts.push((at("package.install"), &package.install, SENTENCE));
        texts.extend(
            package
                .tool
                .iter()
                .map(|tool| (at("package.tool"), tool, SENTENCE)),
        );
        for (index, part) in package.parts.iter().enumerate() {
            texts.push((format!("package.parts[{index}].file"), &part.file, FILE));
        }
    }
    if let Some(lab) = &board.lab {
        texts.push((at("lab.device-type"), &lab.device_type, WORD));
        texts.extend(
            lab.console
                .iter()
                .map(|name| (at("lab.console"), name, WORD)),
        );
        texts.extend(
            lab.prompt
                .iter()
                .map(|text| (at("lab.prompt"), text, PROMPT)),
        );
        texts.push((at("lab.recovery"), &lab.recovery, IN_ZIP));
    }
    match texts.iter().find(|(_, text, rule)| !(rule.allows)(text)) {
        Some((path, text, rule)) => refuse(path, format!("{text:?}: {}", rule.words)),
        None => Ok(()),
    }
}
