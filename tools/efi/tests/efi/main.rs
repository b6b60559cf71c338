//! Tests of the EFI application and of the commands that make and run it. The application is started by
//! EDK2 and U-Boot, on machines that are described in every way that QEMU supports.

mod acpi;
mod code;
mod commands;
#[path = "../../../../tests/common/mod.rs"]
mod common;
#[path = "../../../../tests/paths/firmware.rs"]
#[allow(dead_code)]
mod firmware;
#[path = "../../../../tests/paths/machine.rs"]
mod machine;
mod paths;
mod runs;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_psci-efi");
