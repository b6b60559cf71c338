//! The payload: everything from the loader's jump to the last line on the UART.
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
