//! The classes of mutations: for each a function, and the differences that a run which
//! passes may have.

use self::Change::{Block, Bytes, Tree};
use super::blob::Blob;
use super::mutations::*;

/// A function that mutates a part of the image, and returns a description.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Changes the tree's tokens. None if the tree has nothing to change.
    Tree(fn(&mut Blob, &mut Random) -> Option<String>),
    /// Changes the tree's bytes.
    Bytes(fn(&mut Vec<u8>, &mut Random) -> String),
    /// Changes the parameter block.
    Block(fn(&mut [u8], &mut Random) -> String),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub name: &'static str,
    pub change: Change,
    /// The reason why a run that passes may measure other states than the unmutated
    /// run; None if it must not.
    pub other_states: Option<&'static str>,
    /// The reason why rows of equal state and CPU may have other figures; None if they
    /// must not.
    pub other_figures: Option<&'static str>,
}

/// Returns a class whose passing runs must have the unmutated run's rows.
const fn same(name: &'static str, change: Change) -> Class {
    Class {
        name,
        change,
        other_states: None,
        other_figures: None,
    }
}

/// Returns a class whose passing runs may measure other states, because of `why`.
const fn other(name: &'static str, change: Change, why: &'static str) -> Class {
    Class {
        other_states: Some(why),
        ..same(name, change)
    }
}

const OF_STATES: &[&str] = &["arm,psci-suspend-param", "psci-bench,power-level"];
const LOST: &str = "an idle state can be lost, and the next one is the deepest";
const BITS: &str = "a power_state can become another one that is valid, or a status \"disabled\"";
const VALUES: &str = "the firmware takes some of the other values";
const SERVICE: &str = "the lead services a watchdog, and by QEMU's clock has a turn in a wake-up";

pub(super) const TREES: &[Class] = &[
    other("property-deleted", Tree(delete_property), LOST),
    other("property-renamed", Tree(rename_property), LOST),
    other("node-deleted", Tree(delete_node), LOST),
    other("node-renamed", Tree(rename_node), LOST),
    other("string-changed", Tree(change_string), LOST),
    other("bits-flipped", Tree(flip_bits), BITS),
    same("cell-changed", Tree(change_cell)),
    other("values-exchanged", Tree(|it, r| exchange(it, r, &[])), LOST),
    same("states-exchanged", Tree(|it, r| exchange(it, r, OF_STATES))),
    other("state-changed", Tree(change_state), VALUES),
    same("node-duplicated", Tree(duplicate_node)),
    same("reg-moved", Tree(move_reg)),
    same("reg-resized", Tree(resize_reg)),
    Class {
        other_figures: Some(SERVICE),
        ..same("watchdog-added", Tree(add_watchdog))
    },
    same("frame-added", Tree(add_frame)),
    same("console-changed", Tree(change_console)),
    same("memory-reserved", Tree(reserve_memory)),
    same("bootargs-changed", Tree(change_bootargs)),
    same("model-changed", Tree(change_model)),
    same("header-corrupted", Bytes(corrupt_header)),
    other("structure-corrupted", Bytes(corrupt_structure), LOST),
    same("truncated", Bytes(truncate)),
];

pub(super) const BLOCKS: &[Class] = &[
    same(
        "block-tree-offset",
        Block(|it, r| change_field(it, r, 0x20)),
    ),
    same("block-tree-size", Block(|it, r| change_field(it, r, 0x28))),
    same("block-base-size", Block(|it, r| change_field(it, r, 0x30))),
    same("block-uart-base", Block(|it, r| change_field(it, r, 0x18))),
    same(
        "block-uart-kind",
        Block(|it, r| change_byte(it, r, 0x10..0x18)),
    ),
    same(
        "block-conduit",
        Block(|it, r| change_byte(it, r, 0x38..0x3c)),
    ),
    same("block-head", Block(|it, r| change_byte(it, r, 0..0x10))),
    same("block-bits", Block(flip)),
];
