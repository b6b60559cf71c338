//! The parts of the EFI application that need no firmware, tested on the host.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod load_options;
pub mod memory_map;
