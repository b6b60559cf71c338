//! Runs psci-bench as a guest of an emulated Linux host with KVM.
//!
//! The crate promises that a run fails if the VMM does, even after the guest's last line.
//!
//! | file | task |
//! |---|---|
//! | `initramfs` | the files of the Linux host |
//! | `packages` | fetches its kernel and its VMM from Debian |
//! | [`kvm_host`] | the Linux host, whose first program is in `init/` |
//! | [`loader`] | starts the payload as its guest |
//! | [`cli`] | the verb `guest` |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

pub mod cli;
mod initramfs;
pub mod kvm_host;
pub mod loader;
mod packages;
