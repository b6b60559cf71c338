//! Device trees that the payload reads: their nodes, changes to an existing tree, and trees
//! made from ACPI tables. `cargo xtask`, the crate boards and the EFI application use them.
//!
//! The crate does not interpret trees: [`hardware::board`] does. The payload contains none of
//! this code.
//!
//! | part | task |
//! |---|---|
//! | `regions` | lists of regions |
//! | `node` | a node under construction |
//! | [`nodes`] | the nodes that describe a board |
//! | `adapt` | an existing tree, with other boot arguments or other memory |
//! | [`acpi`] | converts ACPI tables |
//!
//! A part imports only from those above it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod acpi;
mod adapt;
mod node;
pub mod nodes;
mod regions;

pub use self::adapt::{ITEMS_MAX, adapt, check_bootargs};
pub use self::node::TreeNode;
pub use self::regions::merge;

/// The result of reading bytes from outside.
pub type Result<T, E = hardware::board::FormatError> = core::result::Result<T, E>;
