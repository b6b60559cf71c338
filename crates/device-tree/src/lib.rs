//! Creates device trees for the payload from individual nodes, an existing tree or ACPI tables.
//! Used by `cargo xtask`, the `boards` crate and the EFI application.
//!
//! Device trees are parsed by [`hardware::board`], not here. This code is not part of the payload.
//!
//! ```
//! use device_tree::{TreeNode, adapt, nodes};
//! use hardware::board::{Board, Mpidr, Region};
//! use hardware::image::{Conduit, UartKind};
//!
//! let registers = Region { base: 0x900_0000, size: 0x1000 };
//! let uart = nodes::uart(UartKind::Pl011, registers, None, None);
//! let children = [
//!     nodes::chosen(&uart, "iterations=5"),
//!     nodes::memory(Region { base: 0x4000_0000, size: 0x1000_0000 }),
//!     nodes::psci(Conduit::Smc),
//!     nodes::cpus().with(nodes::cpu(Mpidr::new(0), "arm,cortex-a57")),
//!     uart,
//! ];
//! let root = nodes::root("example,board", "Example board", false);
//! let tree = children.into_iter().fold(root, TreeNode::with).flatten();
//!
//! let tree = adapt(&tree, Some("iterations=100"), None).expect("a complete tree");
//! let board = Board::read(&tree).expect("a complete tree");
//! assert_eq!((board.bootargs, board.cpu_count), ("iterations=100", 1));
//! ```
//!
//! | part | task |
//! |---|---|
//! | `regions` | lists of regions |
//! | `readable` | trees that dtoolkit can read |
//! | [`declared`] | reads what a tree declares about idle states |
//! | `node` | a node under construction |
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
mod node;
pub mod nodes;
mod readable;
mod regions;

pub use self::adapt::{ITEMS_MAX, adapt, check_bootargs};
pub use self::node::TreeNode;
pub use self::regions::merge;

/// The result of parsing untrusted bytes.
pub type Result<T, E = hardware::board::FormatError> = core::result::Result<T, E>;
