//! Tests for the commands that read and write files: packages and reports.

#[path = "../../../tests/acpi/machine.rs"]
#[allow(dead_code)]
mod acpi_tables;
#[path = "../support.rs"]
mod support;

mod audit;
mod audit_idle;
mod compare;
mod examples;
mod fip;
mod fip_build;
mod fip_pack;
mod fip_trust;
mod history;
mod installs;
mod live;
mod pages;
mod publish;
mod refused;
mod release;
mod report;
mod report_page;
mod tree;
