//! What a command needs: the workspace, child processes, tools and packages.

pub(crate) mod apt;
mod ensure;
mod labgrid;
mod lava;
pub mod linux_trees;
pub mod plural;
pub mod process;
pub mod progress;
mod python;
pub mod source_package;
mod sphinx;
pub mod workspace;

pub use self::ensure::{
    ALL, ARCHIVES, FIRMWARE, FUZZ, LABS, LINUX_TARGET, NO_INSTALL, Need, PAGES, TARGET, U_BOOT,
    cargo_fuzz, ensure,
};
pub use self::labgrid::labgrid;
pub use self::lava::{Lava, lava};
pub use self::sphinx::sphinx_build;
