//! The portable half of psci-bench: everything that needs no hardware.
//!
//! | folder | task |
//! |---|---|
//! | [`spec`] | vocabulary of the specifications |
//! | [`image`] | the image's header, parameter block and hand-over by a loader |
//! | [`devices`] | register sequences over a bus |
//! | [`board`] | reads a device tree |
//! | [`plan`] | reads boot arguments |
//! | [`measure`] | rounds, outcomes, samples and their statistics |
//! | [`model`] | what a run is: scenarios, rows, points, the verdict |
//! | [`findings`] | sentences that figures support |
//! | [`record`] | lines for programs, with a checksum each |
//! | [`scenario`] | runs rounds on a [`measure::Machine`], and keeps what counts |
//! | [`output`] | prints a run for people |
//!
//! A folder imports only from those above it (`tests/house`). The bare-metal half
//! is in the binary; the host tool reads logs with this crate.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod board;
pub mod devices;
pub mod findings;
pub mod image;
pub mod measure;
pub mod model;
pub mod output;
pub mod plan;
pub mod record;
pub mod scenario;
pub mod spec;
