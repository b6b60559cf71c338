//! Firmware image packages: their images, and the certificate of BL33.

mod fip;
#[cfg(test)]
mod tests;
mod trust;

pub use self::fip::{Fip, IMAGE_MAX, Image, Inspected, PACKAGE_MAX};
pub(crate) use self::trust::{certificate, check_key, is_certificate, renew};
