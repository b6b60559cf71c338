//! The payload: everything from the loader's jump to the last line on the UART.
//!
//! It promises:
//!
//! * Timed regions are written in assembly. No compiler adds an instruction to them.
//! * Every wait for another CPU has a deadline. A CPU that does not respond is reported as lost, and
//!   the other CPUs continue. If the lead is lost, another CPU or the watchdog ends the run.
//! * Only memory that the loader or the device tree describes is accessed. No page is mapped for two
//!   purposes.
//! * All unsafe code is in `machine`.
//! * A run that cannot start or continue ends with a line that gives the reason, if there is a
//!   console to print it on.
//!
//! It does not judge its own results: `suite` decides what is measured and how it is printed.
//!
//! | folder | task |
//! |---|---|
//! | `machine` | registers, memory, exceptions, calls, rounds: all unsafe code |
//! | `start` | finds the device tree, sets up the machine, runs the scenarios of `suite` |
//!
//! Each folder imports only from the folders above it.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
extern crate alloc;

#[cfg(target_os = "none")]
mod machine;

#[cfg(target_os = "none")]
mod start;

#[cfg(target_os = "none")]
machine::entry!(start::main);

/// This program does nothing on a host.
#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("psci-bench is a bare-metal payload: build it with `cargo xtask image`,");
    eprintln!("or build and run it with `cargo xtask qemu`.");
    std::process::exit(2);
}
