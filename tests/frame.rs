//! States in which the CPUs' own timers stop, on a machine without a timer
//! frame, and with what only looks like one: such a state is not tried, and the
//! reason said is the right one.
//!
//! No AArch64 machine of QEMU has a memory-mapped generic timer. What can be
//! shown of a wake-up by one is shown with fakes: `src/devices/frame.rs`,
//! `src/scenario/tests/wake.rs`, `xtask/tests/sse_timer.rs`.

mod common;

use std::time::Duration;

use psci_bench::verdict::Verdict;
use xtask::board::{Board, IdleState};
use xtask::firmware::{Gic, StateId};
use xtask::payload::Tree;
use xtask::run::RunSpec;
use xtask::tree::{self, Choices};
use xtask::workspace::Workspace;

/// The tree of a board whose deepest state stops the timers, with this behind
/// its board file.
fn tree_with(table: &str) -> Vec<u8> {
    let workspace = Workspace::find().expect("the workspace");
    let path = workspace.board("qemu").join("board.toml");
    let text = std::fs::read_to_string(path).expect("a board file");
    let board = Board::parse("board.toml", &format!("{text}\n{table}")).expect("a good board");
    let firmware = board.firmware("tf-a").expect("its firmware");
    let mut states: Vec<IdleState> = firmware.idle_states(StateId::Original);
    states.last_mut().expect("a state").local_timer_stop = true;
    let choices = Choices {
        cpus: 2,
        gic: Gic::V3,
        conduit: board.psci.conduit,
        idle_states: &states,
        bootargs: "iterations=2 warmup=0",
    };
    tree::build(&board, &choices).expect("a tree")
}

/// Runs with such a tree: the deepest state must be skipped for `why`.
fn skipped(table: &str, why: &str) {
    let result = common::run(&RunSpec {
        smp: Some(2),
        tree: Tree::Raw(tree_with(table)),
        timeout: Duration::from_secs(120),
        ..RunSpec::default()
    });
    let text = result.text();
    assert_eq!(result.verdict, Verdict::Pass, "{table}\n{text}");
    assert!(text.contains("4 passed, 2 skipped, 0 failed"), "{text}");
    let said = format!("Skipped: the idle state stops the CPUs' own timers, and {why}");
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(plain.matches(&said).count(), 2, "{said}\n{text}");
}

fn frame(control: u64, base: u64) -> String {
    format!(
        "[timer.frame]\nbase = {base}\nsize = 0x1000\ninterrupt = 92\nnumber = 0\n\
         control = {{ base = {control}, size = 0x1000 }}\n"
    )
}

/// Between the machine's devices.
const NOTHING: u64 = 0x0a10_0000;
/// Secondary flash, erased: it reads as zeros.
const ZEROS: u64 = 0x0400_0000;
/// The GIC's ITS: bit 0 of what is at 0x8 is set, and 0x40 is RAZ/WI, as
/// CNTTIDR and CNTACR0 are for a frame that is Secure.
const ITS: u64 = 0x0808_0000;

#[test]
fn without_a_frame() {
    skipped("", "the device tree has no timer frame");
}

#[test]
fn where_nothing_is() {
    let why = "the timer frame is not implemented";
    skipped(&frame(NOTHING, NOTHING + 0x1000), why);
    skipped(&frame(ZEROS, ZEROS + 0x1000), why);
}

#[test]
fn where_it_is_out_of_reach() {
    skipped(&frame(ITS, ZEROS), "the timer frame can not be accessed");
}
