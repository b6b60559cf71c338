//! The needs of a command: the workspace, child processes, tools and packages.

pub(crate) mod apt;
mod ensure;
pub(crate) mod files;
pub(crate) mod interrupt;
mod lava;
pub mod linux_trees;
mod need;
mod newer_qemu;
pub mod plural;
pub mod process;
pub mod progress;
mod python;
pub mod read_file;
pub(crate) mod scratch;
pub mod source_package;
pub mod stdout;
mod temporary;
pub mod workspace;

pub use self::ensure::ensure;
pub use self::lava::{Lava, lava};
pub use self::need::{
    AAVMF, EFI_TARGET, LINUX_TARGET, Need, TARGET, U_BOOT, all, cargo_fuzz, installed, qemu_version,
};
pub use self::newer_qemu::{PLUGINS_READ_REGISTERS, newer_qemu};
pub use self::python::{labgrid, sphinx_build};
pub(crate) use self::temporary::temporary;
