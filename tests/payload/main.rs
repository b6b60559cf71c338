//! The payload under QEMU: what it prints, and the verdicts that it ends with.
//! Each module has a topic of its own; all are one program, which links once.

#[path = "../common/mod.rs"]
mod common;

mod contract;
mod faults;
mod figures;
mod fip;
mod first_boot;
mod hostile;
mod matrix;
mod settling;
mod sweeps;
mod timer;
mod wake;
mod watchdog;
