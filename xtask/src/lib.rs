//! `cargo xtask`, as a library with a thin `main`.
//!
//! Reports and board files are in the `report` and `boards` crates.
//!
//! ```
//! use boards::image_kinds::uuid_of;
//! use xtask::build::fip::Fip;
//!
//! let (bl31, bl33) = (uuid_of("soc-fw"), uuid_of("nt-fw"));
//! let mut fip = Fip::default();
//! fip.put(bl31, b"TF-A".to_vec())?;
//! fip.put(bl33, b"U-Boot".to_vec())?;
//! let file = fip.build()?;
//!
//! // What `cargo xtask fip update` does with the FIP of a board.
//! let (mut fip, _) = Fip::read(&file)?;
//! fip.put(bl33, b"psci-bench".to_vec())?;
//! assert_eq!(fip.get(bl31), Some(&b"TF-A"[..]));
//! assert_eq!(fip.get(bl33), Some(&b"psci-bench"[..]));
//! # anyhow::Ok(())
//! ```
//!
//! | folder | task |
//! |---|---|
//! | [`setup`] | the workspace, packages, sources, tools |
//! | [`build`] | the payload, TF-A, FIPs, flash images, the EFI application |
//! | [`qemu`] | runs on QEMU |
//! | [`profile`] | instructions by function |
//! | [`commits`] | profiles and checks across a range of commits |
//! | [`lab`] | jobs for LAVA and labgrid |
//! | [`verify`] | cache maintenance checks |
//! | [`cli`] | the command line |
//!
//! Each folder imports only from the folders above it. The commands in [`cli`] and the
//! whole-program tests call the same functions.

#![forbid(unsafe_code)]

pub mod build;
pub mod cli;
#[cfg(feature = "full")]
pub mod commits;
#[cfg(feature = "full")]
pub mod lab;
#[cfg(feature = "full")]
pub mod profile;
pub mod qemu;
pub mod setup;
#[cfg(feature = "full")]
mod template;
#[cfg(feature = "full")]
pub mod verify;
