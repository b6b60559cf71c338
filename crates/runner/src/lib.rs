//! Builds what a machine boots, and runs it on QEMU.
//!
//! The crate promises that a run ends, because QEMU has a time limit and never outlives the program
//! that started it, and that everything that is fetched is pinned by its hash or its version. What
//! was built or fetched completely is kept in `target/` and used again; an interrupted build leaves
//! nothing behind that looks complete.
//!
//! The crate does not interpret a run's figures and has no command line of its own, but the options
//! that several commands share are defined here.
//!
//! | folder | task |
//! |---|---|
//! | [`setup`] | the workspace, packages, sources, tools |
//! | [`build`] | the payload, TF-A, FIPs, flash images, QEMU plugins |
//! | [`qemu`] | runs on QEMU |
//!
//! Each folder imports only from the folders above it.

#![forbid(unsafe_code)]

pub mod build;
pub mod qemu;
pub mod setup;
mod template;
