//! Hardware descriptions: definitions from the specifications, the image header, device drivers,
//! and boards described by device trees.
//!
//! The crate promises to read any device tree, parameter block or transfer list without panicking,
//! in bounded time and memory, and to name the node, property or field in an error. Its drivers
//! never wait forever.
//!
//! This crate does not access registers or call firmware; the payload does both, using the crate's
//! definitions. The device-tree crate builds device trees.
//!
//! ```
//! use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
//! use hardware::board::{Board, Region};
//! use hardware::image::Conduit;
//!
//! let node = |name: &str, properties: &[(&str, &[u8])]| {
//!     let mut node = DeviceTreeNode::new_unchecked(name);
//!     for (name, value) in properties {
//!         node.add_property(DeviceTreeProperty::new_unchecked(*name, *value));
//!     }
//!     node
//! };
//! let region = |base: u64, size: u64| [base.to_be_bytes(), size.to_be_bytes()].concat();
//! let registers = region(0x900_0000, 0x1000);
//! let uart = node("uart@9000000", &[("compatible", b"arm,pl011\0"), ("reg", &registers)]);
//! let two = &2_u32.to_be_bytes();
//! let mut cpus = node("cpus", &[("#address-cells", two)]);
//! cpus.add_child(node("cpu@0", &[("reg", &[0; 8])]));
//! let mut tree = DeviceTree::new();
//! tree.root = node("", &[("#address-cells", two), ("#size-cells", two)]);
//! for child in [
//!     node("psci", &[("compatible", b"arm,psci-1.0\0"), ("method", b"smc\0")]),
//!     uart,
//!     node("chosen", &[("stdout-path", b"/uart@9000000\0"), ("bootargs", b"iterations=5\0")]),
//!     node("memory", &[("device_type", b"memory\0"), ("reg", &region(1 << 30, 1 << 28))]),
//!     cpus,
//! ] {
//!     tree.root.add_child(child);
//! }
//! let blob = tree.to_dtb();
//! let board = Board::read(&blob).expect("a complete tree");
//! assert_eq!((board.bootargs, board.cpu_count), ("iterations=5", 1));
//! assert_eq!((board.conduit, board.uart.base), (Conduit::Smc, 0x900_0000));
//! assert_eq!(board.memory, [Region { base: 1 << 30, size: 1 << 28 }]);
//! ```
//!
//! | folder | task |
//! |---|---|
//! | [`text`] | words, plurals and errors that several crates print |
//! | [`spec`] | PSCI, SMCCC, PMF, ticks, counters, timers, caches |
//! | [`devices`] | device drivers that use a [`devices::Bus`] |
//! | [`image`] | the image's header and parameter block, and the handoff from a loader |
//! | [`board`] | reads a device tree |
//!
//! Each folder imports only from folders listed above it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod board;
pub mod devices;
pub mod image;
pub mod spec;
pub mod text;
