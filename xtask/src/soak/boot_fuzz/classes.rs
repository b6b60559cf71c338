//! The classes of mutations, as data: what each changes, and whether figures may
//! change with it.

use psci_bench::image::{PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE};

use super::blob::Blob;
use super::mutations::*;
use super::random::Random;

/// A mutation changes one of these, and returns what it did.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// The tree's tokens. None where the tree has nothing to change.
    Tree(fn(&mut Blob, &mut Random) -> Option<String>),
    /// The tree's bytes.
    Bytes(fn(&mut Vec<u8>, &mut Random) -> String),
    /// The image, its parameter block.
    Block(fn(&mut [u8], &mut Random) -> String),
}

/// A class of mutations.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// The class's name, in the summary and in file names.
    pub name: &'static str,
    /// What is changed.
    pub change: Change,
    /// Why a run that passes may measure other states than the unmutated one,
    /// if it may.
    pub other_states: Option<&'static str>,
    /// Why rows of one state and CPU may differ, if they may.
    pub other_figures: Option<&'static str>,
}

const fn tree(name: &'static str, by: fn(&mut Blob, &mut Random) -> Option<String>) -> Class {
    Class {
        name,
        change: Change::Tree(by),
        other_states: None,
        other_figures: None,
    }
}

const fn other_states(class: Class, why: &'static str) -> Class {
    Class {
        other_states: Some(why),
        ..class
    }
}

const fn bytes(name: &'static str, by: fn(&mut Vec<u8>, &mut Random) -> String) -> Class {
    Class {
        name,
        change: Change::Bytes(by),
        other_states: None,
        other_figures: None,
    }
}

const fn block(name: &'static str, by: fn(&mut [u8], &mut Random) -> String) -> Class {
    Class {
        name,
        change: Change::Block(by),
        other_states: None,
        other_figures: None,
    }
}

const LOST: &str = "an idle state can be lost, and the next one is the deepest";

/// Classes of mutated trees.
pub const TREES: &[Class] = &[
    other_states(tree("property-deleted", delete_property), LOST),
    other_states(tree("property-renamed", rename_property), LOST),
    other_states(tree("node-deleted", delete_node), LOST),
    other_states(tree("node-renamed", rename_node), LOST),
    other_states(tree("string-changed", change_string), LOST),
    other_states(
        tree("bits-flipped", flip_bits),
        "a power_state can become another one that is valid, or a status \"disabled\"",
    ),
    tree("cell-changed", change_cell),
    other_states(tree("values-exchanged", exchange_values), LOST),
    tree("states-exchanged", exchange_states),
    other_states(
        tree("state-changed", change_state),
        "the firmware takes some of the other values",
    ),
    tree("node-duplicated", duplicate_node),
    tree("reg-moved", move_reg),
    tree("reg-resized", resize_reg),
    Class {
        other_figures: Some(
            "the lead services a watchdog, and by QEMU's clock has a turn in a wake-up",
        ),
        ..tree("watchdog-added", add_watchdog)
    },
    tree("frame-added", add_frame),
    tree("console-changed", change_console),
    tree("memory-reserved", reserve_memory),
    tree("bootargs-changed", change_bootargs),
    tree("model-changed", change_model),
    bytes("header-corrupted", |blob, random| {
        corrupt_header(blob, random)
    }),
    other_states(
        bytes("structure-corrupted", |blob, random| {
            corrupt_structure(blob, random)
        }),
        LOST,
    ),
    bytes("truncated", truncate),
];

/// Classes of mutated parameter blocks.
pub const BLOCKS: &[Class] = &[
    block("block-tree-offset", |image, random| {
        let end = image.len() as u64;
        field(image, random, 0x20, "tree_offset", end)
    }),
    block("block-tree-size", |image, random| {
        field(image, random, 0x28, "tree_size", TREE_SIZE)
    }),
    block("block-base-size", |image, random| {
        field(image, random, 0x30, "base_size", TREE_SIZE)
    }),
    block("block-uart-base", |image, random| {
        let place = random.pick(PLACES);
        field(image, random, 0x18, "UART base", place.1)
    }),
    block("block-uart-kind", |image, random| {
        small(image, random, 0x10, "UART kind and layout", 8)
    }),
    block("block-conduit", |image, random| {
        small(image, random, 0x38, "conduit", 4)
    }),
    block("block-head", |image, random| {
        small(image, random, 0, "magic, version and length", 16)
    }),
    block("block-bits", |image, random| {
        flip(
            &mut image[PARAMETER_BLOCK..][..PARAMETER_BLOCK_SIZE],
            random,
        )
    }),
];
