//! Boots one image through every boot path that QEMU supports. If the loader provides the tree, the
//! image file is always byte-for-byte the same ([`machine::plain`]). Otherwise, a tree is appended
//! to the image.

#[path = "../common/mod.rs"]
mod common;

mod boards;
mod firmware;
mod handoff;
mod machine;
mod made_up;
mod u_boot;
mod uart;
mod virt;
