//! The classes of mutations: the change, and the differences that a run which passes may
//! have.

use fdt_blob::Blob;

use self::Allows::{Nothing, OtherFigures, OtherStates};
use self::TreeChange::{Bits, Byte, Field, Tree};
use crate::mutations::*;

/// The change of a part of the image.
#[derive(Clone, Copy, Debug)]
pub enum TreeChange {
    /// Changes the tree's tokens, and returns a description. None if the tree has nothing
    /// to change.
    Tree(fn(&mut Blob, &mut FuzzRandom) -> Option<String>),
    /// Changes the number of 8 bytes at this offset of the parameter block.
    Field(usize),
    /// Changes a byte of the parameter block in the range from an offset, of a size.
    Byte(usize, usize),
    /// Flips bits of the parameter block.
    Bits,
}

/// A difference to the unmutated run that a run which passes may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allows {
    Nothing,
    /// Rows of states that the unmutated run does not have.
    OtherStates,
    /// Rows of equal state and CPU with other figures.
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
    // An idle state can be lost, and the next one is the deepest.
    class("property-deleted", Tree(delete_property), OtherStates),
    class("node-deleted", Tree(delete_node), OtherStates),
    class("string-changed", Tree(change_string), OtherStates),
    class("values-exchanged", Tree(exchange_values), OtherStates),
    // A power_state can become another one that is valid, or a status "disabled".
    class("bits-flipped", Tree(flip_bits), OtherStates),
    // The firmware accepts some of the other values.
    class("state-changed", Tree(change_state), OtherStates),
    class("cell-changed", Tree(change_cell), Nothing),
    class("node-duplicated", Tree(duplicate_node), Nothing),
    class("reg-moved", Tree(move_reg), Nothing),
    class("reg-resized", Tree(resize_reg), Nothing),
    // The lead services a watchdog, and by QEMU's clock has a turn in a wake-up.
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
