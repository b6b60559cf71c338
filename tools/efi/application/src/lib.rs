//! The parts of the EFI application that do not need firmware and can be tested on the host. The
//! application itself is in `main.rs`; its `start` and `machine` modules exist only for
//! `aarch64-unknown-uefi`.
//!
//! The library promises to accept any bytes that EFI passes to it, and to classify them without
//! panicking. It does not call EFI services and contains no unsafe code.
//!
//! ```
//! use psci_bench_efi::load_options::{LoadOptions, parse};
//!
//! let text = "BOOTAA64.EFI iterations=100";
//! let options: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
//! let arguments = LoadOptions::Arguments("iterations=100".into());
//! assert_eq!(parse(&options), arguments);
//! ```
//!
//! | file | task |
//! |---|---|
//! | [`load_options`] | boot arguments in an application's load options |
//! | [`memory_map`] | the EFI memory map |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod load_options;
pub mod memory_map;
