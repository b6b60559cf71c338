//! `cargo xtask`, as a library with a thin `main`.
//!
//! Reports and board files are in the crates `report` and `boards`.
//!
//! | folder | task |
//! |---|---|
//! | [`setup`] | the workspace, packages, sources, tools |
//! | [`build`] | the payload, TF-A, FIPs, flashes, the EFI application |
//! | [`qemu`] | runs on QEMU |
//! | [`profile`] | instructions by function, commit by commit |
//! | [`lab`] | jobs for LAVA and labgrid |
//! | [`soak`] | repeated runs, fuzzers |
//! | [`verify`] | checks of cache maintenance |
//! | [`cli`] | the command line, one file per verb |
//!
//! A folder imports only from those above it. The commands in [`cli`] and the whole-program
//! tests call the same functions.

#![forbid(unsafe_code)]

pub mod build;
pub mod cli;
#[cfg(feature = "full")]
pub mod lab;
#[cfg(feature = "full")]
pub mod profile;
pub mod qemu;
pub mod setup;
#[cfg(feature = "full")]
pub mod soak;
#[cfg(feature = "full")]
pub mod verify;
