//! Jobs for lab engines. Tests the written files byte for byte and with the engines' own checks,
//! rejected input, and the engines themselves, LAVA's dispatcher and labgrid, on QEMU with real
//! TF-A.

#[path = "../support/mod.rs"]
mod support;

mod ci;
mod engines;
mod failures;
mod recovery;
mod tools;
mod written;
