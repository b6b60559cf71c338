//! Firmware image packages: their images, certificates and signatures.

mod certificate;
mod fip;
mod sign;
#[cfg(test)]
mod tests;
mod trust;

pub use self::fip::{Fip, IMAGE_MAX, Image, PACKAGE_MAX};
pub(crate) use self::sign::check_key;
pub(crate) use self::trust::{certificate, is_certificate, mismatches, renew};
