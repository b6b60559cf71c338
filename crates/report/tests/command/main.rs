//! The verbs of `psci-report`, run as `cargo xtask` runs them.

#[path = "../../../../tests/acpi/machine.rs"]
#[allow(dead_code)]
mod acpi_tables;
mod support;

mod audit_idle;
mod compare;
mod history;
mod live;
mod page_input;
mod refused;
mod report;
mod report_page;
mod rst_reports;
