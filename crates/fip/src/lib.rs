//! Firmware Image Packages (FIPs), the files from which TF-A's boot stages load images, and the
//! certificate that vouches for BL33.
//!
//! The crate promises that a package it reads can be loaded by firmware, that a package it writes
//! is the same, byte for byte, as fiptool's, and that a certificate it renews differs from the old
//! one only in the hashes of images.
//!
//! The crate does not build images or install tools: `cert_create` must be on the PATH. It checks
//! only BL33's part of the chain of trust; the rest is unchanged and left to the firmware.
//!
//! ```
//! use boards::image_kinds::uuid_of;
//! use fip::Fip;
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
//! | file | task |
//! |---|---|
//! | `fip` | the format |
//! | [`trust`] | BL33's certificate |

#![forbid(unsafe_code)]

mod fip;
#[cfg(test)]
mod tests;
pub mod trust;

pub use self::fip::{Fip, IMAGE_MAX, Image, Inspected, PACKAGE_MAX};
