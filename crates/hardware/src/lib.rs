//! What a machine is: the vocabulary of the specifications, the image's header, register
//! sequences over a bus, and the board that a device tree describes.
//!
//! The crate accesses no register and executes no call itself: the payload does, by these
//! definitions. It makes no device trees; the crate device-tree does.
//!
//! | folder | task |
//! |---|---|
//! | [`text`] | words, plurals and errors that several crates print |
//! | [`spec`] | PSCI, SMCCC, PMF, ticks, counters, timers, caches |
//! | [`devices`] | register sequences over a [`devices::Bus`] |
//! | [`image`] | the image's header, its parameter block and what a loader passes |
//! | [`board`] | reads a device tree |
//!
//! A folder imports only from those above it.

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
