//! The boot paths: one image, through every path that QEMU supports. If the loader provides the
//! tree, the file is always the same byte for byte ([`machine::plain`]); otherwise a tree is
//! appended.

#[path = "../common/mod.rs"]
mod common;

mod acpi;
mod boards;
mod efi;
mod firmware;
mod handoff;
mod machine;
mod made_up;
mod u_boot;
mod uart;
mod virt;
