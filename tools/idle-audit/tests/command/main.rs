//! `audit-idle`, run as `cargo xtask` runs it.

#[path = "../../../../tests/acpi/machine.rs"]
#[allow(dead_code)]
mod acpi_tables;
mod support;

mod audit_idle;
mod node;
