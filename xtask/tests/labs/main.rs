//! Jobs for lab engines: what is written, byte for byte and as the engines' own
//! checks have it; what is refused; and the engines themselves, LAVA's
//! dispatcher and labgrid, on QEMU with real TF-A.

#[path = "../support/mod.rs"]
mod support;

mod ci;
mod engines;
mod failures;
mod recovery;
mod tools;
mod written;
