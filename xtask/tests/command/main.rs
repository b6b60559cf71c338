//! Tests for the commands that read and write files: packages, lab jobs and profiles.

#[path = "../../../tests/acpi/machine.rs"]
#[allow(dead_code)]
mod acpi_tables;
#[path = "../support.rs"]
mod support;

mod browser;
mod efi;
mod examples;
mod fip;
mod fip_build;
mod fip_pack;
mod fip_trust;
mod installs;
mod ledger;
mod profile_pages;
mod refused;
mod release;
