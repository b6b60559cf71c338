//! Jobs for lab engines, run by the engines themselves: LAVA's dispatcher and
//! labgrid, on QEMU with real TF-A.

#[path = "../support/mod.rs"]
mod support;

mod engines;
