//! `cargo xtask`, as a library with a thin `main`.
//!
//! Reports and board files are in the `report` and `boards` crates.
//!
//! | folder | task |
//! |---|---|
//! | [`profile`] | instructions by function |
//! | [`commits`] | profiles and checks across a range of commits |
//! | [`cli`] | the command line |
//!
//! Each folder imports only from the folders above it. The commands in [`cli`] and the
//! whole-program tests call the same functions.

#![forbid(unsafe_code)]

pub mod cli;
pub mod commits;
pub mod profile;
