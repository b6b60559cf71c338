//! psci-bench's host tool, as a library with a thin `main`.
//!
//! `docs/folders.txt` has the order of its folders: a folder imports only from folders
//! before it. The commands in [`cli`] and the whole-program tests call the same functions.

#![forbid(unsafe_code)]

pub mod board;
pub mod build;
pub mod cli;
pub mod lab;
pub mod profile;
pub mod qemu;
pub mod report;
pub mod setup;
pub mod soak;
pub mod verify;
