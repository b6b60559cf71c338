//! Trees that contradict themselves: registers where something else is, levels
//! that are not their states', and text of which a part would be lost.

use std::format;
use std::string::{String, ToString};

use super::trees::{Model, be, juno, qemu};
use crate::board::board::Board;

/// A watchdog, and a timer frame with its control frame.
fn devices() -> [Model; 2] {
    let watchdog = Model::new("watchdog")
        .text("compatible", &["arm,sbsa-gwdt"])
        .cells("reg", &[0, 0x2a44_0000, 0, 0x1000]);
    let frame = Model::new("frame")
        .cells("frame-number", &[0])
        .cells("interrupts", &[0, 5, 4])
        .cells("reg", &[0, 0x2a83_0000, 0, 0x1000]);
    let timer = Model::new("timer-mem")
        .text("compatible", &["arm,armv7-timer-mem"])
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .raw("ranges", &[])
        .cells("reg", &[0, 0x2a81_0000, 0, 0x1000])
        .with(frame);
    [watchdog, timer]
}

fn board() -> Model {
    devices().into_iter().fold(qemu(2), Model::with)
}

/// Why `tree` is refused.
fn refusal(tree: &Model) -> String {
    let blob = tree.blob();
    let read = Board::read(&blob).map(|_| "nothing is wrong".into());
    read.unwrap_or_else(|error| error.to_string())
}

fn check(found: &str, expected: &str) {
    assert_eq!(found, expected);
}

/// What is said of `tree` with other cells in a `reg`.
fn said(mut tree: Model, node: &str, reg: &[u32]) -> String {
    tree.at(node).set("reg", &be(reg));
    refusal(&tree)
}

#[test]
fn every_pair_is_refused_by_both_names() {
    let (watchdog, frame) = ("/watchdog", "/timer-mem/frame");
    let page = |base: u32| [0, base, 0, 0x1000];
    for (node, base, expected) in [
        (
            watchdog,
            0x800_0000,
            "watchdog at 0x8000000 overlaps the GIC's distributor at 0x8000000",
        ),
        (
            watchdog,
            0x80b_0000,
            "watchdog at 0x80b0000 overlaps the GIC's redistributors at 0x80a0000",
        ),
        (
            watchdog,
            0x2a83_0000,
            "watchdog at 0x2a830000 overlaps the timer frame at 0x2a830000",
        ),
        (
            watchdog,
            0x900_0000,
            "console at 0x9000000 overlaps the watchdog at 0x9000000",
        ),
        (
            frame,
            0x800_f000,
            "timer frame at 0x800f000 overlaps the GIC's distributor at 0x8000000",
        ),
        (
            frame,
            0x2a81_0000,
            "timer frame at 0x2a810000 overlaps the timer frame at 0x2a810000",
        ),
        (
            "/timer-mem",
            0x900_0000,
            "console at 0x9000000 overlaps the timer frame at 0x9000000",
        ),
    ] {
        assert_eq!(said(board(), node, &page(base)), format!("the {expected}"));
    }
    let gic = |redistributors| [0, 0x800_0000, 0, 0x1_0000, 0, redistributors, 0, 0xf6_0000];
    assert_eq!(
        said(board(), "/intc@8000000", &gic(0x800_0000)),
        "the GIC's redistributors at 0x8000000 overlaps the GIC's distributor at 0x8000000"
    );
    let v2 = [0, 0x2c01_0000, 0, 0x1000, 0, 0x2c01_0000, 0, 0x2000];
    assert_eq!(
        said(juno(), "/interrupt-controller@2c010000", &v2),
        "the GIC's CPU interface at 0x2c010000 overlaps the GIC's distributor at 0x2c010000"
    );
    assert_eq!(
        said(board(), watchdog, &page(0x2a45_0000)),
        "nothing is wrong"
    );
}

#[test]
fn registers_in_memory_are_refused_unless_that_is_reserved() {
    let said_of = |tree| said(tree, "/watchdog", &[0, 0x4800_0000, 0, 0x1000]);
    assert_eq!(
        said_of(board()),
        "the watchdog at 0x48000000 overlaps memory at 0x40000000: mend the memory node, or \
         reserve that part"
    );
    let mut tree = board();
    tree.at("/watchdog")
        .set("reg", &be(&[0, 0x4800_0000, 0, 0x1000]));
    let blob = tree.blob_reserving(&[(0x4800_0000, 0x1000)]);
    assert!(Board::read(&blob).is_ok());
}

#[test]
fn a_level_that_contradicts_its_state_is_refused() {
    let level = |node: &str, level: u32| {
        let mut tree = juno();
        let at = std::format!("/cpus/idle-states/{node}:psci-bench,power-level");
        tree.edit(&at, &be(&[level]));
        tree
    };
    let expected = |node: &str, level: u32| {
        std::format!(
            "/cpus/idle-states/{node} psci-bench,power-level: {level:#x}, expected the power \
             level that arm,psci-suspend-param names"
        )
    };
    check(
        &refusal(&level("cpu-sleep-0", 1)),
        &expected("cpu-sleep-0", 1),
    );
    let mut cluster = level("cluster-sleep-0", 0);
    check(&refusal(&cluster), &expected("cluster-sleep-0", 0));
    // The two states exchanged, with their levels where they were.
    let state = |node: &str| std::format!("/cpus/idle-states/{node}:arm,psci-suspend-param");
    cluster = level("cluster-sleep-0", 1);
    cluster.edit(&state("cpu-sleep-0"), &be(&[0x101_0000]));
    cluster.edit(&state("cluster-sleep-0"), &be(&[0x1_0000]));
    check(&refusal(&cluster), &expected("cpu-sleep-0", 0));
    let mut standby = level("cluster-sleep-0", 1);
    standby.edit(&state("cluster-sleep-0"), &be(&[1]));
    check(
        &refusal(&standby),
        "/cpus/idle-states/cluster-sleep-0 psci-bench,power-level: 0x1, expected 0, as of any \
         standby state",
    );
    // The extended format names no level.
    let mut extended = level("cluster-sleep-0", 2);
    extended.edit(&state("cluster-sleep-0"), &be(&[0x4000_0022]));
    assert!(Board::read(&extended.blob()).is_ok());
}

#[test]
fn words_behind_a_nul_are_refused_and_padding_is_not() {
    let mut tree = qemu(1);
    tree.edit("/chosen:bootargs", b"iterations=2\0iterations=9\0");
    check(
        &refusal(&tree),
        "/chosen bootargs: text follows the NUL at offset 12",
    );
    tree.edit("/chosen:bootargs", b"iterations=2\0\0\0");
    let blob = tree.blob();
    assert_eq!(
        Board::read(&blob).expect("a good tree").bootargs,
        "iterations=2"
    );
}

#[test]
fn a_long_model_is_cut() {
    let mut tree = qemu(1);
    let model = "x".repeat(1 << 20) + "\0";
    tree.at("").set("model", model.as_bytes());
    let blob = tree.blob();
    assert_eq!(
        Board::read(&blob).expect("a good tree").model,
        "x".repeat(100)
    );
}
