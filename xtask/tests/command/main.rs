//! Tests for the commands that read and write files: packages and reports.

#[path = "../../../tests/acpi/machine.rs"]
#[allow(dead_code)]
mod acpi_tables;
#[path = "../support.rs"]
mod support;

mod audit;
mod audit_idle;
mod compare;
mod efi;
mod examples;
mod fip;
mod fip_build;
mod fip_pack;
mod fip_trust;
mod history;
mod installs;
mod ledger;
mod live;
mod pages;
mod profile_pages;
mod publish;
mod refused;
mod release;
mod report;
mod report_page;
