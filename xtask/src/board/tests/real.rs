//! The boards that there are, as the payload reads them.

use std::collections::BTreeMap;
use std::fs;

use dtoolkit::fdt::Fdt;
use dtoolkit::model::DeviceTree;
use psci_bench::board as payload;

use crate::board;
use crate::board::Board;
use crate::board::StateFormat;
use crate::board::names;
use crate::board::table;
use crate::build::device_tree::{self, Choices};
use crate::setup::workspace::Workspace;

/// The tree of `board` with all the CPUs that its firmware can have.
fn tree_of(board: &Board) -> Vec<u8> {
    let firmware = board.firmware(&board.default_firmware);
    let firmware = firmware.expect("the default one");
    let choices = Choices {
        cpus: firmware.max_cpus,
        gic: board.default_gic(),
        conduit: board.psci.conduit,
        idle_states: &firmware.idle_states(StateFormat::Original),
        bootargs: "iterations=3",
    };
    device_tree::build(board, &choices).expect("a tree")
}

/// (MPIDR, cluster, core, thread) of each CPU that the payload finds in `tree`,
/// and what the labels come from.
fn labels(tree: &[u8], mt: bool) -> (Vec<(u64, u16, u16, u16)>, payload::LabelSource) {
    let read = payload::Board::read(tree).expect("a good tree");
    let mut cpus = vec![payload::Cpu::default(); read.cpu_count];
    let source = read.cpus(mt, &mut cpus).expect("CPUs");
    let labels = cpus.iter().map(|c| (c.mpidr, c.cluster, c.core, c.thread));
    (labels.collect(), source)
}

fn load(name: &str) -> Board {
    let workspace = Workspace::find().expect("the repository");
    board::load(&workspace, name).expect("a sound board file")
}

/// The labels that people know these boards by, from their device trees and
/// TF-A's topology, and not from the board files.
#[test]
fn published_topologies() {
    let pairs = |n: u64, m: u64, mpidr: fn(u64, u64) -> u64| -> Vec<(u64, u16, u16, u16)> {
        let all = (0..n).flat_map(move |cluster| (0..m).map(move |core| (cluster, core)));
        all.map(|(a, b)| (mpidr(a, b), a as u16, b as u16, 0))
            .collect()
    };
    // With the MT bit, Aff0 is the thread, and there is one.
    let mt = |cluster, core| cluster << 16 | core << 8;
    let plain = |cluster, core| cluster << 8 | core;
    let boards = BTreeMap::from([
        ("fvp-base-revc", (true, pairs(2, 4, mt))),
        ("n1sdp", (true, pairs(2, 2, mt))),
        ("tc4", (true, pairs(1, 8, mt))),
        ("rd-n2", (true, pairs(16, 1, mt))),
        ("rd-v3", (true, pairs(16, 1, mt))),
        ("hikey960", (false, pairs(2, 4, plain))),
        ("lx2160a", (false, pairs(8, 2, plain))),
        (
            "juno",
            (
                false,
                vec![
                    (0x000, 0, 0, 0),
                    (0x001, 0, 1, 0),
                    (0x100, 1, 0, 0),
                    (0x101, 1, 1, 0),
                    (0x102, 1, 2, 0),
                    (0x103, 1, 3, 0),
                ],
            ),
        ),
    ]);
    for (name, (mt, expected)) in boards {
        let blob = tree_of(&load(name));
        let by_map = labels(&blob, mt);
        assert_eq!(
            by_map,
            (expected.clone(), payload::LabelSource::CpuMap),
            "{name}"
        );
        // Nor would MPIDR itself say anything else.
        let mut tree = DeviceTree::from_fdt(&Fdt::new(&blob).expect("a tree"));
        let cpus = tree.find_node_mut("/cpus").expect("it");
        cpus.remove_child("cpu-map").expect("a map");
        let (by_mpidr, source) = labels(&tree.to_dtb(), mt);
        assert_ne!(source, payload::LabelSource::CpuMap, "{name}");
        assert_eq!(by_mpidr, expected, "{name}");
    }
}

/// HiKey960 boots on a Cortex-A53, and its tree names the others.
#[test]
fn whose_counter_is_read_twice() {
    let workspace = Workspace::find().expect("the repository");
    let mut boards = names(&workspace);
    boards.retain(|name| {
        let blob = tree_of(&load(name));
        payload::Board::read(&blob)
            .expect("a good tree")
            .counter_erratum
            .is_some()
    });
    assert_eq!(boards, ["hikey960"]);
}

/// The firmware's own memory is not the payload's.
#[test]
fn what_bl31_keeps_in_dram() {
    let blob = tree_of(&load("hikey960"));
    let read = payload::Board::read(&blob).expect("a good tree");
    let bl31 = 0x1ac5_8000..0x1ac9_8000_u64;
    let kept = |r: &payload::Region| r.base <= bl31.start && bl31.end <= r.base + r.size;
    assert!(read.reserved.iter().any(kept), "{:x?}", read.reserved);
}

fn document() -> String {
    let workspace = Workspace::find().expect("the repository");
    fs::read_to_string(workspace.root.join("docs/boards.md")).expect("docs/boards.md")
}

/// The first block of `kind` behind `heading`.
fn block(document: &str, heading: &str, kind: &str) -> String {
    let (_, rest) = document.split_once(heading).expect(heading);
    let (_, rest) = rest.split_once(&format!("```{kind}\n")).expect("a block");
    let (block, _) = rest.split_once("```\n").expect("its end");
    block.to_owned()
}

#[test]
fn the_example_in_the_document() {
    let text = block(&document(), "## Adding a board", "toml");
    let board = board::parse("docs/boards.md", &text).expect("a good board");
    let blob = tree_of(&board);
    let read = payload::Board::read(&blob).expect("a good tree");
    assert_eq!(read.model, board.title);
    assert_eq!(labels(&blob, false).0.len(), 4);
    assert_eq!(read.idle_states.len(), 2);
    let text = text.replace("0x0101_0000", "0x0001_0000");
    let error = board::parse("docs/boards.md", &text).expect_err("a wrong level");
    let said = block(&document(), "An error names file and line", "text");
    assert_eq!(said.trim_end(), format!("error: {error}"));
}

#[test]
fn the_list_in_the_document() {
    let workspace = Workspace::find().expect("the repository");
    let boards: Vec<Board> = names(&workspace).iter().map(|name| load(name)).collect();
    let table = table(&boards);
    let rows = table.split("\n\n").next().expect("the table");
    let listed = block(&document(), "## The list", "text");
    assert_eq!(
        listed.trim_end(),
        rows,
        "put there what `cargo xtask boards` prints"
    );
}

/// PLATFORM_CPU_PER_CLUSTER_SHIFT in TF-A's plat/qemu/qemu/include/platform_def.h.
#[test]
fn the_stock_platform_of_qemu_has_clusters_of_16() {
    let workspace = Workspace::find().expect("the repository");
    let board = board::load(&workspace, "qemu").expect("a good board");
    for (firmware, sizes) in [("tf-a", &[4; 5][..]), ("tf-a-stock", &[16, 4])] {
        let firmware = board.firmware(firmware).expect("it");
        let clusters = board.with_clusters_of(firmware).clusters(20);
        let clusters = clusters.expect("so many CPUs");
        assert_eq!(clusters.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
    }
}

/// serde names all keys of a table when it meets an unknown one.
#[test]
fn the_document_has_every_key() {
    let made_up = include_str!("board.toml");
    let sbsa = made_up.replace("\"sp805\"", "\"sbsa-gwdt\"");
    check_keys(made_up);
    check_keys(
        &sbsa
            .replace("clock = 24_000_000\n", "")
            .replace("registers", "control"),
    );
}

fn check_keys(made_up: &str) {
    let document = document();
    let after = |start: &str, end: &'static str| {
        let places = made_up.match_indices(start);
        let places = places.map(move |(at, start)| (at + start.len(), end));
        places.collect::<Vec<_>>()
    };
    let mut tables = 0;
    for (at, end) in [vec![(0, "\n")], after("]\n", "\n"), after("{ ", ", ")].concat() {
        let (before, rest) = made_up.split_at(at);
        let text = format!("{before}nonsense = 1{end}{rest}");
        let error = board::parse("x", &text).expect_err(rest).to_string();
        let Some((_, known)) = error.split_once("unknown field `nonsense`, expected ") else {
            continue;
        };
        tables += 1;
        for key in known.split('`').skip(1).step_by(2) {
            assert!(document.contains(&format!("`{key}`")), "{key} of {error}");
        }
    }
    assert!(tables > 15, "{tables}");
}
