//! Tests the accepted and rejected trees in the tables, and cases that do not fit in a table row.

use std::string::ToString;
use std::vec;
use std::vec::Vec;
use std::{format, println};

use dtoolkit::Node as _;
use dtoolkit::memreserve::MemoryReservation;

use super::describe::describe;
use super::edited_tree::{Edit, Tree, Value, cells, parse_node};
use super::read::READ;
use super::refused::REFUSED;
use crate::board::{Board, ConsoleSource, TreeConsole, total_size};
use crate::devices::uart::AnyUart;
use crate::image::Conduit;

/// Applies `edits` to `tree` and returns the blob.
fn edited(tree: Tree, edits: &[Edit<'_>]) -> Vec<u8> {
    let mut model = tree.parse();
    edits.iter().for_each(|edit| edit.apply(&mut model));
    model.to_dtb()
}

#[test]
fn trees_that_describe_a_board_are_read() {
    let mut is_right = true;
    for (tree, edits, expected) in READ {
        let found = describe(&edited(*tree, edits));
        let has = |line: &&str| {
            let mut lines = found.iter().flatten();
            lines.any(|table_line| table_line.trim_end() == *line)
        };
        if !expected.iter().all(has) {
            println!("{tree:?} {edits:?}: {expected:?}\n  found {found:#?}");
            is_right = false;
        }
    }
    assert!(is_right);
}

#[test]
fn trees_that_describe_no_board_are_refused_by_node_and_property() {
    let mut is_right = true;
    for (tree, edits, expected) in REFUSED {
        let found = describe(&edited(*tree, edits)).map_err(|error| error.to_string());
        if found.as_ref().err().map(|error| error.as_str()) != Some(*expected) {
            println!("{tree:?} {edits:?}: {expected}\n  found {found:#?}");
            is_right = false;
        }
    }
    assert!(is_right);
}

#[test]
fn a_console_of_no_known_kind_is_refused_with_the_kinds() {
    for name in ["qcom,msm-uartdm-v1.4", "fsl,ls1021a-lpuart"] {
        let edit = Edit::Set("/pl011@9000000", "compatible", Value::Text(name));
        let found = describe(&edited(Tree::Qemu(1), &[edit])).map_err(|error| error.to_string());
        let expected = format!("/pl011@9000000 compatible: \"{name}\", expected {AnyUart}");
        assert_eq!(found, Err(expected));
    }
    assert!(AnyUart.to_string().starts_with("a PL011, 16550, SBSA, "));
    assert!(AnyUart.to_string().ends_with(" UART"));
}

/// QEMU device trees have 1 MiB of padding, and some loaders leave extra bytes after a tree.
#[test]
fn padding_and_bytes_after_the_tree_are_ignored() {
    let plain = Tree::Qemu(8).parse().to_dtb();
    let mut blob = plain.clone();
    blob.resize(1 << 20, 0);
    blob[4..8].copy_from_slice(&cells(&[1 << 20]));
    assert_eq!(total_size(&blob[..8]), Ok(1 << 20));
    blob.extend([0xff; 77]);
    assert_eq!(describe(&blob), describe(&plain));
}

/// Boot loaders remove nodes by overwriting them with NOPs.
#[test]
fn removed_nodes_change_nothing() {
    let tree = Tree::Qemu(4).parse();
    let mut riddled = tree.clone();
    for child in tree.root.children() {
        riddled.root.remove_child(child.name());
    }
    riddled.root.add_child(parse_node("gone@0 { }"));
    for child in tree.root.children() {
        riddled.root.add_child(child.clone());
    }
    for path in ["/", "/cpus", "/cpus/cpu-map", "/cpus/cpu-map/cluster0"] {
        Edit::Add(path, "gone@0 { }").apply(&mut riddled);
    }
    let mut blob = riddled.to_dtb();
    let gone = [cells(&[1]), b"gone@0\0\0".to_vec(), cells(&[2])].concat();
    while let Some(at) = blob.windows(16).position(|bytes| bytes == gone) {
        blob[at..at + 16].copy_from_slice(&cells(&[4; 4]));
    }
    assert_eq!(describe(&blob), describe(&tree.to_dtb()));
}

#[test]
fn the_most_cpus_are_labelled_in_order() {
    let lines = describe(&Tree::Qemu(512).parse().to_dtb()).expect("a valid tree");
    let mut lines = lines.iter();
    let labels = lines.find_map(|line| line.strip_prefix("labels: CpuMap "));
    let labels: Vec<_> = labels.expect("labels").split(' ').collect();
    assert_eq!((labels.len(), labels[511]), (512, "1f0f=127.3.0"));
    let mpidr = |label: &&str| u64::from_str_radix(label.split('=').next()?, 16).ok();
    assert!(labels.is_sorted_by_key(mpidr));
}

#[test]
fn a_console_is_found_without_a_board() {
    let mut tree = Tree::Qemu(4).parse();
    Edit::Remove("/intc@8000000").apply(&mut tree);
    Edit::Remove("/memory@40000000").apply(&mut tree);
    assert!(Board::read(&tree.to_dtb()).is_err());
    let blob = tree.to_dtb();
    let console = TreeConsole::find(&blob).expect("a valid tree");
    assert_eq!(console.uart.map(|uart| uart.base), Ok(0x900_0000));
    assert_eq!(console.by, Some(ConsoleSource::StdoutPath));
    assert_eq!(console.conduit, Ok(Conduit::Smc));
    Edit::Remove("/pl011@9000000").apply(&mut tree);
    let blob = tree.to_dtb();
    let console = TreeConsole::find(&blob).expect("a valid tree");
    assert!(console.uart.is_err() && console.conduit.is_ok());
}

#[test]
fn too_many_reservations_are_refused() {
    let mut tree = Tree::Qemu(4).parse();
    tree.memory_reservations = vec![MemoryReservation::new(1, 1); 65];
    let error = describe(&tree.to_dtb()).expect_err("too many").to_string();
    assert_eq!(error, "/ (memory reservation block): more than 64 entries");
}

#[test]
fn a_long_model_is_cut() {
    let mut tree = Tree::Qemu(1).parse();
    let model = "x".repeat(1 << 20);
    Edit::Set("/", "model", Value::Text(&model)).apply(&mut tree);
    let lines = describe(&tree.to_dtb()).expect("a valid tree");
    assert_eq!(lines[0], format!("model: {}", "x".repeat(100)));
}
