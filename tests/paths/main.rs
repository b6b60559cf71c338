//! The ways in: one image, by every path that QEMU has.
//!
//! A loader may enter at EL1, EL2 or EL3, hand the device tree over in X0, in
//! X2, in a transfer list or not at all, and put the image where it likes. The
//! file is the same byte for byte wherever the tree comes from the loader
//! ([`machine::Plain`]); where it does not, a tree is appended.

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
