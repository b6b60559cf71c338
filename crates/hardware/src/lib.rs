//! Describes the hardware: terms from the specifications, the image header, register sequences over
//! a bus, and the board that a device tree describes.
//!
//! The crate itself accesses no registers and executes no calls; the payload does, using these
//! definitions. It does not build device trees; the crate device-tree does.
//!
//! | folder | task |
//! |---|---|
//! | [`text`] | words, plurals and errors that several crates print |
//! | [`spec`] | PSCI, SMCCC, PMF, ticks, counters, timers, caches |
//! | [`devices`] | register sequences over a [`devices::Bus`] |
//! | [`image`] | the image's header, its parameter block and what a loader passes |
//! | [`board`] | reads a device tree |
//!
//! Each folder imports only from the folders above it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod board;
pub mod devices;
pub mod image;
pub mod spec;
pub mod text;
