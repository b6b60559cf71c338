//! The parts of the EFI application that need no firmware and are tested on the host. The
//! application itself is in `main.rs`; its modules `start` and `machine` exist only for
//! `aarch64-unknown-uefi`.
//!
//! The library calls no EFI service and has no unsafe code.
//!
//! | file | task |
//! |---|---|
//! | [`load_options`] | boot arguments in the load options of an application |
//! | [`memory_map`] | EFI's memory map |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod load_options;
pub mod memory_map;
