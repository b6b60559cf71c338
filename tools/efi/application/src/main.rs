//! `BOOTAA64.EFI`: starts the payload on the machine that the application runs on.
//!
//! It promises that it either starts the payload with a device tree that the payload accepts, or
//! prints the reason and returns to EFI with its memory freed.
//!
//! Every step that can fail happens while EFI can still print the reason and continue: `start`
//! finds a device tree, or builds one from the ACPI tables, and reads the board and the plan as the
//! payload does. Then the application exits boot services, and `machine` jumps to the payload. All
//! unsafe code is in `machine`.

#![cfg_attr(target_os = "uefi", no_std, no_main)]

#[cfg(target_os = "uefi")]
extern crate alloc;

#[cfg(target_os = "uefi")]
mod machine;

#[cfg(target_os = "uefi")]
mod start;

#[cfg(target_os = "uefi")]
machine::entry!(start::main);

/// This program does nothing on a host.
#[cfg(not(target_os = "uefi"))]
fn main() {
    eprintln!("this is an EFI application: build it with `cargo xtask efi build`.");
    std::process::exit(2);
}
