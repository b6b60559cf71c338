//! Firmware Image Packages: their images, and BL33's certificate.

mod fip;
#[cfg(test)]
mod tests;
#[cfg(feature = "full")]
mod trust;

pub use self::fip::{Fip, IMAGE_MAX, Image, Inspected, PACKAGE_MAX};
#[cfg(feature = "full")]
pub(crate) use self::trust::{certificate, check_key, is_certificate, renew};
