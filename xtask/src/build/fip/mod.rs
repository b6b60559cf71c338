//! Firmware image packages: their entries, certificates and signatures.

pub mod cert_create;
mod certificate;
pub mod layout;
pub mod openssl;
mod read;
#[cfg(test)]
mod tests;
mod trust;
mod write;

pub use self::certificate::Signed;
pub use self::layout::{ENTRIES_MAX, PACKAGE_MAX, Uuid};
pub use self::read::{Entry, FipError, Package, Warning, read};
pub use self::trust::{Request, certificates, is_certificate, renew};
pub use self::write::{Builder, IMAGE_MAX, WriteError};
