//! The mutation classes: what each one changes, and what difference it may make to a passing run.

use fdt_blob::Blob;

use self::Allows::{Nothing, OtherFigures, OtherStates};
use self::TreeChange::{Bits, Byte, Field, Tree};
use crate::mutations::*;

/// A change to part of the image.
#[derive(Clone, Copy, Debug)]
pub enum TreeChange {
    /// Changes the tree's tokens and returns a description, or None if there is nothing to change.
    Tree(fn(&mut Blob, &mut FuzzRandom) -> Option<String>),
    /// Changes the 8-byte number at this offset in the parameter block.
    Field(usize),
    /// Changes one byte in a range of the parameter block, given by its offset and size.
    Byte(usize, usize),
    /// Flips bits in the parameter block.
    Bits,
}

/// How a passing run may differ from the unmutated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allows {
    Nothing,
    /// Rows for states that are missing from the unmutated run.
    OtherStates,
    /// Rows for the same state and CPU, but with different figures.
    OtherFigures,
}

#[derive(Clone, Copy, Debug)]
pub struct Class {
    pub name: &'static str,
    pub change: TreeChange,
    pub allows: Allows,
}

const fn class(name: &'static str, change: TreeChange, allows: Allows) -> Class {
    Class {
        name,
        change,
        allows,
    }
}

pub const TREES: &[Class] = &[
    // If an idle state is lost, the next one becomes the deepest.
    class("property-deleted", Tree(delete_property), OtherStates),
    class("node-deleted", Tree(delete_node), OtherStates),
    class("string-changed", Tree(change_string), OtherStates),
    class("values-exchanged", Tree(exchange_values), OtherStates),
    // A power_state may be changed to another valid one, or a status to "disabled".
    class("bits-flipped", Tree(flip_bits), OtherStates),
    // Some of the new values are also power states that the firmware accepts.
    class("state-changed", Tree(change_state), OtherStates),
    class("cell-changed", Tree(change_cell), Nothing),
    class("node-duplicated", Tree(duplicate_node), Nothing),
    class("reg-moved", Tree(move_reg), Nothing),
    class("reg-resized", Tree(resize_reg), Nothing),
    // A watchdog refresh by the lead can add instructions to another CPU's wake-up.
    class("watchdog-added", Tree(add_watchdog), OtherFigures),
    class("frame-added", Tree(add_frame), Nothing),
    class("console-changed", Tree(change_console), Nothing),
    class("memory-reserved", Tree(reserve_memory), Nothing),
    class("bootargs-changed", Tree(change_bootargs), Nothing),
];

pub const BLOCKS: &[Class] = &[
    class("block-head", Byte(0, 16), Nothing),
    class("block-uart-kind", Byte(0x10, 8), Nothing),
    class("block-uart-base", Field(0x18), Nothing),
    class("block-tree-offset", Field(0x20), Nothing),
    class("block-tree-size", Field(0x28), Nothing),
    class("block-base-size", Field(0x30), Nothing),
    class("block-conduit", Byte(0x38, 4), Nothing),
    class("block-bits", Bits, Nothing),
];
