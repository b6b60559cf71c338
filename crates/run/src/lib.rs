//! What a run is: the one definition, for the payload that makes a run and for programs
//! that read its log.
//!
//! The crate does not measure and prints no tables: the crate suite does, through
//! [`measure::Machine`]. It does not read logs; the crate report does.
//!
//! | folder | task |
//! |---|---|
//! | [`crc`], [`hex`] | the checksum of records, and numbers in them |
//! | [`plan`] | reads boot arguments |
//! | [`measure`] | rounds, outcomes, samples and their statistics |
//! | [`model`] | scenarios, cells and their series, the verdict |
//! | [`findings`] | sentences that figures support |
//! | [`record`] | lines for programs, with a checksum each |
//!
//! A folder imports only from those above it. With the feature `testing` there are also a fake
//! machine and a made-up run, for tests of other crates.

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
