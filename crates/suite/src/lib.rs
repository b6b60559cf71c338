//! Runs scenarios on a [`run::measure::Machine`] and prints their results.
//!
//! The crate accesses no hardware and defines no result types; those are in [`run::model`].
//!
//! | folder | task |
//! |---|---|
//! | [`scenario`] | runs rounds and keeps the valid samples |
//! | [`output`] | prints a run for human readers |
//!
//! Each folder imports only from the folders above it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod output;
pub mod scenario;
