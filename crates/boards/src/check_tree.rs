//! Checks a board file by building its device trees and reading them with the payload's parser.

use hardware::board::GicVersion;

use super::board::BoardFile;
use super::board_fault::{BoardFault, require};
use super::device_tree::{Choices, build, read};
use super::firmware::StateEntry;

/// Maps the start of each parser error message to the corresponding board file key.
const KEYS: [(&str, &str); 16] = [
    ("memory: ", "memory"),
    ("/memory@", "memory"),
    ("/reserved-memory", "reserved"),
    ("/cpus", "cpus.clusters"),
    ("the console", "uart"),
    ("/serial@", "uart"),
    ("/pl011@", "uart"),
    ("/timer@", "timer.frame"),
    ("the timer's control frame", "timer.frame"),
    ("the timer frame", "timer.frame"),
    ("the watchdog", "watchdog"),
    ("the ITS", "gic.v3.its"),
    ("the redistributors", "gic.v3.redistributors"),
    ("the GIC", "gic.v"),
    ("/interrupt-controller@", "gic.v"),
    ("", "title"),
];

/// Rejects a board if the payload cannot use one of its device trees. Checks a tree with all CPUs
/// for each GIC version, and a tree with the idle states for each firmware.
pub(super) fn check_trees(board: &BoardFile) -> Result<(), BoardFault> {
    for version in [GicVersion::V2, GicVersion::V3] {
        if board.gic.as_ref().is_none_or(|gic| gic.has(version)) {
            check_tree(board, version, board.most_cpus(), &[], "")?;
        }
    }
    for (name, firmware) in &board.firmware {
        for (index, state) in firmware.idle_state.iter().enumerate() {
            let path = format!("firmware.{name}.idle-state[{index}]");
            let states: Vec<_> = firmware.idle_state[..=index]
                .iter()
                .filter(|other| other.format == state.format)
                .cloned()
                .collect();
            check_tree(board, board.default_gic(), 1, &states, &path)?;
        }
    }
    Ok(())
}

fn check_tree(
    board: &BoardFile,
    gic: GicVersion,
    cpus: u32,
    idle_states: &[StateEntry],
    state: &str,
) -> Result<(), BoardFault> {
    let refusal = |error: anyhow::Error| {
        let error = error.to_string();
        let key = KEYS.iter().find(|(prefix, _)| error.starts_with(prefix));
        match key.map_or("", |(_, key)| *key) {
            _ if error.starts_with("/cpus/idle-states/") => BoardFault::new(state, error),
            "gic.v" => BoardFault::new(format_args!("gic.v{}", gic.number()), error),
            key => BoardFault::new(key, error),
        }
    };
    let choices = Choices {
        cpus,
        gic,
        conduit: board.psci.conduit,
        cpu_off: true,
        idle_states,
    };
    let tree = build(board, &choices, "").map_err(refusal)?;
    let read = read(&tree).map_err(refusal)?;
    if let (Some(_), Err(reason)) = (board.timer_frame(), read.timer_frame) {
        return Err(BoardFault::new("timer.frame", reason));
    }
    require(
        board.watchdog.is_none() || read.watchdog.is_some(),
        "watchdog",
        "expected at least 4 KiB, aligned to 4 KiB, and, for an SP805, a clock",
    )?;
    require(
        read.idle_states.usable.len() == idle_states.len(),
        state,
        "another idle state has the same name or power-state",
    )
}
