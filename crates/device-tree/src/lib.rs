//! Builds device trees for the payload: from nodes, by changing an existing tree, or from ACPI
//! tables. `cargo xtask`, the crate `boards` and the EFI application use it.
//!
//! The crate does not interpret trees: [`hardware::board`] does. The payload contains none of
//! this code.
//!
//! | part | task |
//! |---|---|
//! | `regions` | lists of regions |
//! | `node` | a node under construction |
//! | [`nodes`] | the nodes that describe a board |
//! | `adapt` | changes the boot arguments or the memory in an existing tree |
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

/// The result of parsing untrusted bytes.
pub type Result<T, E = hardware::board::FormatError> = core::result::Result<T, E>;
