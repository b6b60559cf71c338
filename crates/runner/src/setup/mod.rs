//! Sets up what a command needs: the workspace, tools, sources and packages.

pub mod apt;
mod install;
mod installed_qemu;
pub mod linux_trees;
pub mod need;
pub mod scratch;
pub mod sealed_folder;
pub mod source_package;
pub mod workspace;

pub use self::install::{check_no_install, ensure};
pub use self::installed_qemu::{newer_qemu, qemu_version};
pub use self::need::{AAVMF, EFI_TARGET, LINUX_TARGET, Need, TARGET, U_BOOT, all, installed};
