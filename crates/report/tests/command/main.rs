//! The verbs of `psci-report`, run as `cargo xtask` runs them.

#[path = "../../../../tests/acpi/machine.rs"]
#[allow(dead_code)]
mod acpi_tables;
mod support;

mod audit;
mod audit_idle;
mod compare;
mod history;
mod live;
mod pages;
mod publish;
mod refused;
mod report;
mod report_page;
