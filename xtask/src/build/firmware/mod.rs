//! Builds TF-A with the overlay platform.

mod build;
pub mod fault;
mod fip;
mod platform;
mod variant;

pub use self::build::{FirmwareBuild, build, toolchain};
pub use self::fip::NT_FW_KEY;
pub use self::platform::Platform;
pub use self::variant::Variant;
