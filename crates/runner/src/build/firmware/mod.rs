//! Builds TF-A with the overlay platform.

mod build;
mod compiler_cache;
pub mod fault;
mod fip;
mod firmware_variant;
mod plain_paths;
mod platform;
mod timestamps;

pub(crate) use self::build::TREES;
pub use self::build::{FirmwareBuild, build, commands, toolchain};
pub use self::fip::NT_FW_KEY;
pub use self::firmware_variant::FirmwareVariant;
pub use self::platform::{FipBuild, Platform};
pub(crate) use self::platform::{overlay, stage_of};
pub use self::timestamps::Timestamps;
pub(crate) use self::timestamps::are_in;
