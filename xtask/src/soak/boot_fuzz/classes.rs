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
    Bytes(fn(&mut Vec<u8>, &mut Random) -> String),
    Block(fn(&mut [u8], &mut Random) -> String),
}

/// A class of mutations.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    pub name: &'static str,
    pub change: Change,
    /// Why a run that passes may measure other states than the unmutated one,
    /// if it may.
    pub other_states: Option<&'static str>,
    /// Why rows of one state and CPU may differ, if they may.
    pub other_figures: Option<&'static str>,
}

impl Class {
    const fn new(name: &'static str, change: Change) -> Self {
        Self {
            name,
            change,
            other_states: None,
            other_figures: None,
        }
    }

    const fn tree(name: &'static str, by: fn(&mut Blob, &mut Random) -> Option<String>) -> Self {
        Self::new(name, Change::Tree(by))
    }

    const fn bytes(name: &'static str, by: fn(&mut Vec<u8>, &mut Random) -> String) -> Self {
        Self::new(name, Change::Bytes(by))
    }

    const fn block(name: &'static str, by: fn(&mut [u8], &mut Random) -> String) -> Self {
        Self::new(name, Change::Block(by))
    }

    const fn other_states(mut self, why: &'static str) -> Self {
        self.other_states = Some(why);
        self
    }

    const fn other_figures(mut self, why: &'static str) -> Self {
        self.other_figures = Some(why);
        self
    }
}

const LOST: &str = "an idle state can be lost, and the next one is the deepest";

/// Classes of mutated trees.
pub const TREES: &[Class] = &[
    Class::tree("property-deleted", delete_property).other_states(LOST),
    Class::tree("property-renamed", rename_property).other_states(LOST),
    Class::tree("node-deleted", delete_node).other_states(LOST),
    Class::tree("node-renamed", rename_node).other_states(LOST),
    Class::tree("string-changed", change_string).other_states(LOST),
    Class::tree("bits-flipped", flip_bits).other_states(
        "a power_state can become another one that is valid, or a status \"disabled\"",
    ),
    Class::tree("cell-changed", change_cell),
    Class::tree("values-exchanged", |tree, random| {
        exchange(tree, random, &[])
    })
    .other_states(LOST),
    Class::tree("states-exchanged", |tree, random| {
        let of_states = ["arm,psci-suspend-param", "psci-bench,power-level"];
        exchange(tree, random, &of_states)
    }),
    Class::tree("state-changed", change_state)
        .other_states("the firmware takes some of the other values"),
    Class::tree("node-duplicated", duplicate_node),
    Class::tree("reg-moved", move_reg),
    Class::tree("reg-resized", resize_reg),
    Class::tree("watchdog-added", add_watchdog)
        .other_figures("the lead services a watchdog, and by QEMU's clock has a turn in a wake-up"),
    Class::tree("frame-added", add_frame),
    Class::tree("console-changed", change_console),
    Class::tree("memory-reserved", reserve_memory),
    Class::tree("bootargs-changed", change_bootargs),
    Class::tree("model-changed", change_model),
    Class::bytes("header-corrupted", |blob, random| {
        corrupt_header(blob, random)
    }),
    Class::bytes("structure-corrupted", |blob, random| {
        flip(&mut blob[40..], random)
    })
    .other_states(LOST),
    Class::bytes("truncated", |blob, random| {
        blob.truncate(random.below(blob.len()));
        format!("to {} bytes", blob.len())
    }),
];

/// Classes of mutated parameter blocks.
pub const BLOCKS: &[Class] = &[
    Class::block("block-tree-offset", |image, random| {
        let end = image.len() as u64;
        field(image, random, 0x20, "tree_offset", end)
    }),
    Class::block("block-tree-size", |image, random| {
        field(image, random, 0x28, "tree_size", TREE_SIZE)
    }),
    Class::block("block-base-size", |image, random| {
        field(image, random, 0x30, "base_size", TREE_SIZE)
    }),
    Class::block("block-uart-base", |image, random| {
        let place = random.pick(PLACES);
        field(image, random, 0x18, "UART base", place.1)
    }),
    Class::block("block-uart-kind", |image, random| {
        small(image, random, 0x10, "UART kind and layout", 8)
    }),
    Class::block("block-conduit", |image, random| {
        small(image, random, 0x38, "conduit", 4)
    }),
    Class::block("block-head", |image, random| {
        small(image, random, 0, "magic, version and length", 16)
    }),
    Class::block("block-bits", |image, random| {
        flip(
            &mut image[PARAMETER_BLOCK..][..PARAMETER_BLOCK_SIZE],
            random,
        )
    }),
];
