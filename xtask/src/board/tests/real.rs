//! The boards that there are, as the payload and the documents have them.

use std::fs;

use dtoolkit::fdt::Fdt;
use dtoolkit::model::DeviceTree;
use psci_bench::board as payload;
use psci_bench::spec::counter::CounterErratum;

use crate::board::{self, Board, StateFormat, describe, names, table};
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

/// (MPIDR, cluster, core, thread) of a CPU.
type Label = (u64, u16, u16, u16);

/// Each CPU that the payload finds in `tree`, and the source of the labels.
fn labels(tree: &[u8], mt: bool) -> (Vec<Label>, payload::LabelSource) {
    let read = payload::Board::read(tree).expect("a good tree");
    let (source, cpus) = read.cpus(mt).expect("CPUs");
    let labels = cpus.iter().map(|c| (c.mpidr, c.cluster, c.core, c.thread));
    (labels.collect(), source)
}

fn load(name: &str) -> Board {
    board::load(&Workspace::find().expect("it"), name).expect("a sound board file")
}

fn all_boards() -> Vec<Board> {
    let names = names(&Workspace::find().expect("it"));
    names.iter().map(|name| load(name)).collect()
}

/// The labels that people know these boards by, from their device trees and
/// TF-A's topology, and not from the board files.
#[test]
fn labels_are_those_of_published_topologies() {
    // With the MT bit, Aff0 is the thread, and there is one.
    for (name, mt, clusters) in [
        ("fvp-base-revc", true, &[4, 4][..]),
        ("n1sdp", true, &[2, 2]),
        ("tc4", true, &[8]),
        ("rd-n2", true, &[1; 16]),
        ("rd-v3", true, &[1; 16]),
        ("hikey960", false, &[4, 4]),
        ("lx2160a", false, &[2; 8]),
        ("juno", false, &[2, 4]),
    ] {
        let shift = if mt { 8 } else { 0 };
        let cluster = |(a, cores): (u64, &u16)| {
            let core = move |b| ((a << 8 | u64::from(b)) << shift, a as u16, b, 0);
            (0..*cores).map(core).collect::<Vec<Label>>()
        };
        let expected: Vec<Label> = (0..).zip(clusters).flat_map(cluster).collect();
        let blob = tree_of(&load(name));
        let by_map = (expected.clone(), payload::LabelSource::CpuMap);
        assert_eq!(labels(&blob, mt), by_map, "{name}");
        // Nor would MPIDR itself say anything else.
        let mut tree = DeviceTree::from_fdt(&Fdt::new(&blob).expect("a tree"));
        let cpus = tree.find_node_mut("/cpus").expect("it");
        cpus.remove_child("cpu-map").expect("a map");
        let by_mpidr = (expected, payload::LabelSource::Mpidr);
        assert_eq!(labels(&tree.to_dtb(), mt), by_mpidr, "{name}");
    }
}

/// HiKey960 boots on a Cortex-A53, and has others; BL31 is in its DRAM.
#[test]
fn errata_and_reserved_memory_reach_the_payload() {
    for board in all_boards() {
        let blob = tree_of(&board);
        let read = payload::Board::read(&blob).expect("a good tree");
        let is_hikey = board.name == "hikey960";
        let erratum = is_hikey.then_some(CounterErratum::CortexA73);
        assert_eq!(read.counter_erratum, erratum, "{}", board.name);
        let (base, size) = (0x1ac5_8000, 0x4_0000);
        let bl31 = payload::Region { base, size };
        let is_kept = read.reserved.iter().any(|kept| kept.contains(&bl31));
        assert_eq!(is_kept, is_hikey, "{:x?}", read.reserved);
    }
}

fn document() -> String {
    let root = Workspace::find().expect("the repository").root;
    fs::read_to_string(root.join("docs/boards.md")).expect("docs/boards.md")
}

/// The first block of `kind` after `heading`.
fn block(document: &str, heading: &str, kind: &str) -> String {
    let (_, rest) = document.split_once(heading).expect(heading);
    let (_, rest) = rest.split_once(&format!("```{kind}\n")).expect("a block");
    let (block, _) = rest.split_once("```\n").expect("its end");
    block.to_owned()
}

#[test]
fn the_document_has_a_good_example_its_error_and_the_list() {
    let text = block(&document(), "## Adding a board", "toml");
    let board = board::parse("docs/boards.md", &text).expect("a good board");
    let blob = tree_of(&board);
    let read = payload::Board::read(&blob).expect("a good tree");
    assert_eq!(read.model, board.title);
    assert_eq!((read.cpu_count, read.idle_states.len()), (4, 2));
    let text = text.replace("0x0101_0000", "0x0001_0000");
    let error = board::parse("docs/boards.md", &text).expect_err("a wrong level");
    let said = block(&document(), "An error names file and line", "text");
    assert_eq!(said.trim_end(), format!("error: {error}"));
    let table = table(&all_boards());
    let (rows, _) = table.split_once("\n\n").expect("the table");
    let listed = block(&document(), "## The list", "text");
    let hint = "put there what `cargo xtask boards` prints";
    assert_eq!(listed.trim_end(), rows, "{hint}");
}

/// PLATFORM_CPU_PER_CLUSTER_SHIFT in TF-A's plat/qemu/qemu/include/platform_def.h.
#[test]
fn the_stock_platform_of_qemu_has_clusters_of_16() {
    let board = load("qemu");
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
    let sbsa = sbsa.replace("clock = 24_000_000\n", "");
    for text in [made_up, &sbsa.replace("registers", "control")] {
        check_keys(text);
    }
}

fn check_keys(made_up: &str) {
    let document = document();
    let mut tables = 0;
    for (at, start) in made_up.match_indices(['\n', '{']) {
        let end = if start == "{" { ", " } else { "\n" };
        let (before, rest) = made_up.split_at(at + 1);
        let text = format!("{before}nonsense = 1{end}{rest}");
        let error = board::parse("x", &text).expect_err(rest).to_string();
        // Within a list the error is another one.
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

#[test]
fn every_note_and_state_is_described() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for board in all_boards() {
        let text = describe(&board);
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
        let note = board.firmware[&board.default_firmware].note.as_ref();
        let table = words(&table(std::slice::from_ref(&board)));
        assert!(note.is_none_or(|note| table.contains(&words(note))));
        for note in board.note.iter().chain(note) {
            assert!(words(&text).contains(&words(note)), "{text}");
        }
        for state in board.firmware.values().flat_map(|it| &it.idle_state) {
            let value = format!("{:#010x}", state.power_state);
            assert!(text.contains(&value), "{text}");
        }
    }
}
