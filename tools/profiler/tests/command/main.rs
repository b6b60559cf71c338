//! Tests of the whole program, on QEMU under real TF-A and on checkouts of no firmware.

mod bisect;
mod boot;
mod ci;
mod ledger;
mod profile;
mod refused;
mod sources;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_psci-profiler");
