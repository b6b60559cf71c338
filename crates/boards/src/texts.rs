//! Rules for names and text in board files.

use std::fmt::Display;
use std::sync::LazyLock;

use regex::Regex;

use super::board::BoardFile;
use super::board_fault::{BoardFault, require};
use super::stock::Stock;

/// A regular expression and its description, which is used in the error message.
type Rule = (LazyLock<Regex>, &'static str);

macro_rules! rule {
    ($pattern:literal, $words:literal) => {
        (
            LazyLock::new(|| Regex::new($pattern).expect("a pattern")),
            $words,
        )
    };
}

static TITLE: Rule = rule!(
    "^[!-~][ -~]{0,99}$",
    "expected one line of printable ASCII, at most 100 characters"
);
static NOTE: Rule = rule!(
    "^[!-~][ -~]{0,599}$",
    "expected one line of printable ASCII, at most 600 characters"
);
static SENTENCE: Rule = rule!(
    r"^[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$",
    "expected a sentence or two on one line"
);
static NAME: Rule = rule!(
    "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$",
    "expected only letters, digits, '-', '_' and '.'"
);
static NODE: Rule = rule!(
    "^[A-Za-z0-9-]{1,31}$",
    "expected a node name: up to 31 letters, digits and dashes"
);
static CPU: Rule = rule!(
    "^[A-Za-z0-9_.+-]+,[A-Za-z0-9_,.+-]+$",
    "expected a vendor and a CPU name, such as \"arm,cortex-a53\""
);

fn check_optional(
    path: impl Display,
    text: &Option<String>,
    rule: &Rule,
) -> Result<(), BoardFault> {
    match text {
        Some(text) => check_text(path, text, rule),
        None => Ok(()),
    }
}

fn check_text(path: impl Display, text: &str, (pattern, words): &Rule) -> Result<(), BoardFault> {
    let reason = format_args!("{text:?}: {words}");
    require(pattern.is_match(text), path, reason)
}

/// Returns an error for the first string that violates its rule.
pub(super) fn check_texts(board: &BoardFile) -> Result<(), BoardFault> {
    check_text("title", &board.title, &TITLE)?;
    check_optional("note", &board.note, &NOTE)?;
    for (index, part) in board.reserved.iter().enumerate() {
        check_text(format_args!("reserved[{index}].name"), &part.name, &NODE)?;
    }
    for (index, name) in board.cpus.compatible.iter().flatten().enumerate() {
        check_text(format_args!("cpus.compatible[{index}]"), name, &CPU)?;
    }
    for (name, firmware) in &board.firmware {
        check_optional(format_args!("firmware.{name}.note"), &firmware.note, &NOTE)?;
        for (index, state) in firmware.idle_state.iter().enumerate() {
            let path = format_args!("firmware.{name}.idle-state[{index}].name");
            check_text(path, &state.name, &NODE)?;
        }
        if let Some(stock) = &firmware.stock {
            stock_texts(&format!("firmware.{name}.stock"), stock)?;
        }
    }
    if let Some(package) = &board.package {
        check_text("package.file", &package.file, &NAME)?;
        check_optional("package.folder", &package.folder, &NAME)?;
        check_text("package.install", &package.install, &SENTENCE)?;
        check_optional("package.tool", &package.tool, &SENTENCE)?;
        for (index, part) in package.parts.iter().enumerate() {
            let path = format_args!("package.parts[{index}].file");
            check_text(path, &part.file, &NAME)?;
        }
    }
    if let Some(qemu) = &board.qemu {
        check_optional("qemu.no-cpu-off", &qemu.no_cpu_off, &SENTENCE)?;
    }
    Ok(())
}

fn stock_texts(path: &str, stock: &Stock) -> Result<(), BoardFault> {
    check_text(format_args!("{path}.platform"), &stock.platform, &NAME)?;
    for (index, input) in stock.inputs.iter().enumerate() {
        let key = format!("{path}.inputs[{index}]");
        check_text(format_args!("{key}.title"), &input.title, &SENTENCE)?;
        check_text(format_args!("{key}.source"), &input.source, &SENTENCE)?;
    }
    for (index, file) in stock.files.iter().enumerate() {
        let key = format_args!("{path}.files[{index}].install");
        check_text(key, &file.install, &SENTENCE)?;
    }
    check_optional(
        format_args!("{path}.not-on-qemu"),
        &stock.not_on_qemu,
        &SENTENCE,
    )?;
    if let Some(proof) = &stock.power_down {
        let key = format!("{path}.power-down");
        check_text(format_args!("{key}.contains"), &proof.contains, &SENTENCE)?;
        check_text(format_args!("{key}.since"), &proof.since, &NAME)?;
    }
    match &stock.oldest {
        None => Ok(()),
        Some(oldest) => check_text(
            format_args!("{path}.oldest.because"),
            &oldest.because,
            &SENTENCE,
        ),
    }
}
