//! Parses and checks the board files, `platforms/BOARD/board.toml`, which `build.rs` embeds.
//!
//! A board file that this crate returns has been checked: its device trees can be read by the
//! payload. Every error has the file name and the line number. The crate does not build images or
//! run anything. It does not read files at run time, so new or changed boards take effect at the
//! next build.
//!
//! ```
//! use boards::device_tree::{Choices, build};
//! use boards::{Conduit, GicVersion};
//! use hardware::board::Board;
//!
//! let juno = boards::load("juno")?;
//! let choices = Choices {
//!     cpus: 6,
//!     gic: GicVersion::V2,
//!     conduit: Conduit::Smc,
//!     cpu_off: true,
//!     idle_states: &[],
//! };
//! let tree = build(&juno, &choices, "iterations=5")?;
//! let board = Board::read(&tree)?;
//! assert_eq!((board.model, board.cpu_count), ("Arm Juno r0, r1, r2", 6));
//!
//! let error = boards::parse("board.toml", "name = 7").expect_err("a number");
//! assert!(error.to_string().starts_with("board.toml:1: "));
//! # anyhow::Ok(())
//! ```
//!
//! | part | task |
//! |---|---|
//! | [`image_kinds`] | image types in a FIP |
//! | `board_fault` | errors in board files, reported by line |
//! | `version` | versions of TF-A and QEMU |
//! | `stock` | how TF-A is built for a board |
//! | `devices`, `firmware`, `package`, `publish` | sections of a board file |
//! | `board` | a board file as a [`BoardFile`] |
//! | `texts` | rules for names and sentences |
//! | [`device_tree`] | a board's device tree |
//! | `check_tree` | checks those trees with the payload's parser |
//! | `check_package`, `check_stock`, `check` | contradictions within a file |
//! | `read` | finds and parses board files: [`load`], [`parse`], [`names`] |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

mod board;
mod board_fault;
mod check;
mod check_package;
mod check_stock;
mod check_tree;
pub mod device_tree;
mod devices;
mod firmware;
pub mod image_kinds;
mod package;
mod publish;
mod read;
mod stock;
#[cfg(test)]
mod tests;
mod texts;
mod version;

pub use hardware::board::GicVersion;
pub use hardware::image::Conduit;
pub use hardware::spec::psci::StateFormat;
pub use uuid::Uuid;

pub use self::board::{BoardFile, Qemu, Verified};
pub use self::devices::Frame;
pub use self::firmware::{Firmware, LatencyEntry, Pmf, StateEntry};
pub use self::package::{FipPart, Package, PackageBlob, PackageKind};
pub use self::publish::{ClockDomain, Publish, PublishedCluster};
pub use self::read::{load, names, parse};
pub use self::stock::{
    BuildInput, BuildNeed, BuiltFile, BuiltImage, INPUT_OPTIONS, LoadedFile, OldestVersion,
    PowerDownProof, Stock,
};
pub use self::version::Version;
