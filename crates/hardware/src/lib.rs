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
//! use fdt_blob::{Blob, BlobToken};
//! use hardware::board::{Board, Region};
//! use hardware::image::Conduit;
//!
//! let mut tree = Blob {
//!     tokens: vec![BlobToken::Begin(String::new()), BlobToken::End],
//!     ..Blob::default()
//! };
//! let nodes = r#"#address-cells 2; #size-cells 2; model "Example board
//! +psci; compatible "arm,psci-1.0; method "smc; -
//! +uart@9000000; compatible "arm,pl011; reg 0 9000000 0 1000; -
//! +chosen; stdout-path "/uart@9000000; bootargs "iterations=5; -
//! +memory@40000000; device_type "memory; reg 0 40000000 0 10000000; -
//! +cpus; #address-cells 1; +cpu@0; reg 0; -; +cpu@1; reg 1"#;
//! tree.add_text(nodes.replace("; ", "\n").as_bytes());
//!
//! let blob = tree.write();
//! let board = Board::read(&blob).expect("a complete tree");
//! assert_eq!((board.model, board.cpu_count), ("Example board", 2));
//! assert_eq!((board.conduit, board.uart.base), (Conduit::Smc, 0x900_0000));
//! assert_eq!(board.memory, [Region { base: 0x4000_0000, size: 0x1000_0000 }]);
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
