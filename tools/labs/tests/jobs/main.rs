//! Jobs for lab engines. Compares the written files byte for byte, runs the engines' own checks on
//! them, tests that invalid input is rejected, and runs the engines themselves (the LAVA dispatcher
//! and labgrid) on QEMU with real TF-A.

mod engines;
mod failures;
mod lava;
mod refused;
mod script;
mod tools;
mod written;
