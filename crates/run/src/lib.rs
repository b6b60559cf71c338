//! Defines what a run is, both for the payload that performs a run and for programs that read its
//! log.
//!
//! The crate does not measure and prints no tables; the crate suite does, through
//! [`measure::Machine`]. It does not read logs; the crate report does.
//!
//! | folder | task |
//! |---|---|
//! | [`crc`], [`hex`] | the checksum of records, and the numbers in them |
//! | [`plan`] | reads boot arguments |
//! | [`measure`] | rounds, outcomes, samples and their statistics |
//! | [`model`] | scenarios, cells and their series, the verdict |
//! | [`findings`] | sentences that the figures support |
//! | [`record`] | machine-readable lines, each with a checksum |
//!
//! Each folder imports only from the folders above it. The feature `testing` adds a fake machine
//! and an example run for the tests of other crates.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod crc;
pub mod findings;
pub mod hex;
pub mod measure;
pub mod model;
pub mod plan;
pub mod record;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
