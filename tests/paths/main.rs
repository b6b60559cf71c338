//! The ways in: one image, by every path that QEMU has.
//!
//! A loader may enter at EL1, EL2 or EL3, hand the device tree over in X0, in
//! X2, in a transfer list or not at all, and put the image where it likes. The
//! file is the same byte for byte wherever the tree comes from the loader
//! ([`machine::Plain`]); where it does not, a tree is appended.
//!
//! | module | who loads |
//! |---|---|
//! | `virt` | QEMU itself, on `virt` |
//! | `firmware` | TF-A, as it hands over to a kernel, and by a transfer list |
//! | `handoff` | a stub that loads X0 to X3 with what it likes |
//! | `u_boot` | U-Boot's booti, alone and as TF-A's BL33 |
//! | `boards` | QEMU on other machines, with and without PSCI; TF-A's rpi3 |
//! | `uart` | QEMU, behind a stub that makes a 16550 ready |
//! | `made_up` | a board that is known by its device tree alone |

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
