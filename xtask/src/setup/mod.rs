//! Sets up what a command needs: the workspace, tools, sources and packages.

pub(crate) mod apt;
mod ensure;
mod lava;
pub mod linux_trees;
mod need;
mod newer_qemu;
mod python;
pub(crate) mod scratch;
pub(crate) mod sealed_folder;
pub mod source_package;
pub mod workspace;

pub use self::ensure::{check_no_install, ensure};
pub use self::lava::{Lava, lava};
pub use self::need::{
    AAVMF, EFI_TARGET, LINUX_TARGET, Need, TARGET, U_BOOT, all, cargo_fuzz, installed, qemu_version,
};
pub use self::newer_qemu::newer_qemu;
pub use self::python::{labgrid, sphinx_build};
