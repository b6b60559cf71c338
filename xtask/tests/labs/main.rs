//! Jobs for lab engines: the files written, byte for byte and according to the engines' own checks;
//! refusals; and the engines themselves, LAVA's dispatcher and labgrid, on QEMU with real TF-A.

#[path = "../support/mod.rs"]
mod support;

mod ci;
mod engines;
mod failures;
mod recovery;
mod tools;
mod written;
