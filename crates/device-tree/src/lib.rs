//! Creates device trees for the payload from individual nodes, an existing tree or ACPI tables, and
//! reads the parts of a tree that the payload does not need.
//!
//! Every tree that [`adapt()`] returns can be read by the payload. No function panics, whatever the
//! bytes that it is given, except those in [`nodes`] that say so. The model of a tree is
//! dtoolkit's; whether a tree describes a board is decided by [`hardware::board`], which the
//! payload uses.
//!
//! ```
//! use device_tree::nodes::{self, BuildNode as _};
//! use device_tree::adapt;
//! use hardware::board::{Board, Mpidr, Region};
//! use hardware::image::{Conduit, UartKind};
//!
//! let registers = Region { base: 0x900_0000, size: 0x1000 };
//! let uart = nodes::uart(UartKind::Pl011, registers, None, None);
//! let children = [
//!     nodes::chosen(&uart, "iterations=5"),
//!     nodes::memory(Region { base: 0x4000_0000, size: 0x1000_0000 }),
//!     nodes::psci(Conduit::Smc),
//!     nodes::cpus().with_child(nodes::cpu(Mpidr::new(0), "arm,cortex-a57")),
//!     uart,
//! ];
//! let root = nodes::root("example,board", "Example board", false);
//! let tree = nodes::flatten(root.with_children(children));
//!
//! let tree = adapt(&tree, Some("iterations=100"), None).expect("a complete tree");
//! let board = Board::read(&tree).expect("a complete tree");
//! assert_eq!((board.bootargs, board.cpu_count), ("iterations=100", 1));
//! ```
//!
//! | part | task |
//! |---|---|
//! | `readable_tree` | trees that dtoolkit can read |
//! | [`declared`] | reads what a tree declares about idle states |
//! | [`nodes`] | the nodes that describe a board |
//! | `adapt` | changes the boot arguments or memory in an existing tree |
//! | [`acpi`] | converts ACPI tables |
//!
//! Each module imports only from modules listed above it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod acpi;
mod adapt;
pub mod declared;
pub mod nodes;
mod readable_tree;

pub use dtoolkit::model::DeviceTreeNode;

pub use self::adapt::{ITEMS_MAX, adapt, check_bootargs, merge_regions};

/// The result of parsing untrusted bytes.
pub type Result<T, E = hardware::board::FormatError> = core::result::Result<T, E>;
