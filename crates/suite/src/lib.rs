//! How a run is made: scenarios over a [`run::measure::Machine`], and what is printed of
//! them.
//!
//! The crate accesses no hardware and defines no results: those are [`run::model`]'s.
//!
//! | folder | task |
//! |---|---|
//! | [`scenario`] | runs rounds, and keeps the samples that count |
//! | [`output`] | prints a run for people |
//!
//! A folder imports only from those above it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod output;
pub mod scenario;
