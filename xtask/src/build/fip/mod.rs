//! Firmware image packages: their entries, certificates and signatures.

mod certificate;
pub mod layout;
mod read;
mod sign;
#[cfg(test)]
mod tests;
mod trust;
mod write;

pub use self::layout::{ENTRIES_MAX, IMAGE_MAX, PACKAGE_MAX};
pub use self::read::{Entry, Package, read};
pub(crate) use self::sign::check_key;
pub(crate) use self::trust::{certificate, is_certificate, mismatches, renew};
pub use self::write::Builder;
