//! Classifies device trees and describes their boards.

use std::fmt::{Debug, Write};

use anyhow::{Context, Result, anyhow, bail, ensure};
use device_tree::adapt;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::standard::{NodeStandard, Status};
use dtoolkit::{Node as _, Property as _};
use hardware::board::{Board, Cpu, FormatError, LabelSource};
use suite::crc::CRC_32;

/// The class of trees that the payload can build a board from.
pub const USABLE: &str = "usable";

/// The property named in an error (if any), part of the error message, and the class of the tree.
/// If a class ends in a space, the value quoted in the message is appended to it.
const CLASSES: &[(Option<&str>, &str, &str)] = &[
    (
        None,
        "no enabled node compatible with arm,psci",
        "PSCI: no node",
    ),
    (Some("compatible"), "PSCI 0.1", "PSCI: version 0.1"),
    (Some("compatible"), "expected arm,psci", "PSCI: unknown "),
    (None, "no stdout-path", "console: the tree names none"),
    (
        Some("stdout-path"),
        "no node has",
        "console: the tree names a node that it has not",
    ),
    (
        Some("bootargs"),
        "",
        "console: the boot arguments name a UART that it has not",
    ),
    (Some("status"), "\"", "console: it is disabled"),
    (Some("compatible"), "\"", "console: no driver for "),
    (
        None,
        "boot loader should fill",
        "memory: for the boot loader to fill in",
    ),
    (None, "no enabled memory node", "memory: no node"),
    (
        None,
        "overlaps memory at",
        "devices: in memory that is not reserved",
    ),
    (None, "no node /cpus", "CPUs: none"),
    (Some("enable-method"), "\"", "CPUs: enable-method "),
];

/// A tree that was accepted or rejected.
#[derive(Clone)]
pub struct JudgedTree {
    pub class: String,
    /// The path of the faulty node.
    pub path: String,
    /// The description's checksum.
    pub digest: u32,
}

fn class_of(error: &str) -> Option<String> {
    let is = |property: &Option<&str>, part: &str| {
        let is_of_it = property.is_none_or(|name| error.contains(&format!(" {name}: ")));
        is_of_it && error.contains(part)
    };
    let mut rows = CLASSES.iter();
    let (.., class) = rows.find(|(property, part, _)| is(property, part))?;
    let quoted = error.split('"').nth(1).unwrap_or("");
    let value = if class.ends_with(' ') { quoted } else { "" };
    Some(format!("{class}{value}"))
}

/// Classifies the tree called `name`. Also checks that the host tool changes only the boot
/// arguments when it adapts a usable tree.
pub fn judge(name: &str, blob: &[u8]) -> Result<JudgedTree> {
    let text = describe(blob);
    let (class, path) = match Board::read(blob) {
        Ok(board) => {
            second_opinion(&board, blob).with_context(|| name.to_owned())?;
            (USABLE.to_owned(), String::new())
        }
        Err(error) => {
            let error = error.to_string();
            let class = class_of(&error).ok_or_else(|| anyhow!("{name}: {error}"))?;
            let path = error.split([' ', ':']).next().expect("the first part");
            (class, path.to_owned())
        }
    };
    let args = "iterations=8 only=off";
    match (class == USABLE, adapt(blob, Some(args), None)) {
        (true, Ok(adapted)) => {
            let is_same = |(old_line, new_line): (&str, &str)| {
                old_line == new_line || new_line == format!("{:<12} {args:?}", "bootargs")
            };
            let adapted = describe(&adapted);
            if !text.lines().zip(adapted.lines()).all(is_same) {
                bail!("{name}: with boot arguments:\n{adapted}");
            }
        }
        (false, Err(_)) => {}
        (_, adapted) => {
            let length = adapted.map(|tree| tree.len());
            bail!("{name}: {class}, and with boot arguments {length:?}");
        }
    }
    let digest = CRC_32.checksum(text.as_bytes());
    Ok(JudgedTree {
        class,
        path,
        digest,
    })
}

/// Compares the parts of a tree that a third-party crate can also read.
fn second_opinion(board: &Board<'_>, blob: &[u8]) -> Result<()> {
    let fdt = Fdt::new_unchecked(blob);
    let text = |node: &str, name| {
        let property = fdt.find_node(node)?.property(name)?;
        let bytes = property.value().split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let model = text("/", "model").or_else(|| text("/", "compatible"));
    let bootargs = text("/chosen", "bootargs");
    let cpus = fdt.find_node("/cpus").context("no node /cpus")?;
    let is_cpu = |node: &FdtNode<'_>| {
        let kind = node.property("device_type");
        kind.is_some_and(|kind| kind.value() == b"cpu\0") && node.status() == Ok(Status::Okay)
    };
    let count = cpus.children().filter(is_cpu).count();
    let found = (board.model.into(), board.bootargs.into(), board.cpu_count);
    let (model, bootargs) = (model.unwrap_or_default(), bootargs.unwrap_or_default());
    let expected = (model, bootargs, count);
    ensure!(
        found == expected,
        "{found:?}, but dtoolkit reads {expected:?}"
    );
    Ok(())
}

/// Returns the CPUs with their labels. Only the hardware reveals whether Aff0 is a thread number,
/// so only one interpretation needs to succeed.
fn labels(board: &Board<'_>) -> Result<(LabelSource, Vec<Cpu>), FormatError> {
    board.cpus(false).or_else(|_| board.cpus(true))
}

/// Returns a description of everything read from a tree, or the class of the tree and the error.
pub fn describe(blob: &[u8]) -> String {
    let board = match Board::read(blob) {
        Ok(board) => board,
        Err(error) => {
            let error = error.to_string();
            return format!("{}\n{error}\n", class_of(&error).unwrap_or_default());
        }
    };
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn Debug| {
        writeln!(text, "{name:<12} {value:x?}").expect("writing to a String cannot fail");
    };
    line("model", &board.model);
    line("console", &board.uart);
    line("console by", &board.uart_by);
    line("conduit", &board.conduit);
    line("GIC", &board.gic);
    line("timers", &board.timers);
    line("timer frame", &board.timer_frame);
    line("watchdog", &board.watchdog);
    line("memory by", &board.memory_source);
    board.memory.iter().for_each(|part| line("memory", part));
    for part in &board.reserved {
        line("reserved", part);
    }
    for state in &board.idle_states.usable {
        line("idle state", state);
    }
    for state in &board.idle_states.left_out {
        line("left out", state);
    }
    line("erratum", &board.counter_erratum);
    match labels(&board) {
        Ok((source, cpus)) => {
            line("labels", &source);
            cpus.iter().for_each(|cpu| line("CPU", cpu));
        }
        Err(error) => line("labels", &error),
    }
    line("bootargs", &board.bootargs);
    text
}
