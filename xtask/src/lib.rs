//! psci-bench's host tool, as a library with a thin `main`.
//!
//! ```text
//! setup ── what a command needs is there, or is installed
//! board ── platforms/BOARD/board.toml, read and checked
//! build ── firmware, payload, device tree -> what a machine starts from
//! qemu ─── a run on QEMU, and what to make of one without a verdict
//! report ─ logs -> what they say, in the format that is asked for
//! lab ──── a board and its firmware -> what lab engines take; runs on boards
//! soak ─── runs that are repeated, and fuzzing
//! cli ──── the commands
//! ```
//!
//! A folder imports only from folders above it. The commands in [`cli`] and the
//! whole-program tests call the same functions.

#![forbid(unsafe_code)]

pub mod board;
pub mod build;
pub mod cli;
pub mod lab;
pub mod qemu;
pub mod report;
pub mod setup;
pub mod soak;
