//! The ways in: one image, by every path that QEMU has. The file is the same byte for byte
//! wherever the tree comes from the loader ([`machine::plain`]); where it does not, a tree is
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
