//! The parts of the EFI application that need no firmware, tested on the host. The application
//! itself is in `main.rs`; `start` and `machine` there exist only for `aarch64-unknown-uefi`.
//!
//! The library calls no EFI service and has no unsafe code.
//!
//! | file | task |
//! |---|---|
//! | [`load_options`] | boot arguments in an application's load options |
//! | [`memory_map`] | EFI's memory map |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod load_options;
pub mod memory_map;
