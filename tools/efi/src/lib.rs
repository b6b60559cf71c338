//! Starts psci-bench as an EFI application: on a machine with EFI, from a file or a USB stick, and on
//! QEMU under EDK2 or U-Boot.
//!
//! The crate promises that an application contains the image that the options describe, and that an
//! identical image gives an identical file.
//!
//! | file | task |
//! |---|---|
//! | [`application`] | builds the EFI application in `application/` around an image |
//! | [`signer`] | signs it for Secure Boot |
//! | [`boot_media`] | boot media that contain it |
//! | [`loaders`] | EDK2 and U-Boot, which start it on QEMU |
//! | [`cli`] | the verbs `efi` and `stick` |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

pub mod application;
pub mod boot_media;
pub mod cli;
pub mod loaders;
pub mod signer;
