//! Tests for the commands that read and write files: packages, trees and releases.

#[path = "../../../tests/acpi/machine.rs"]
#[allow(dead_code)]
mod acpi_tables;
#[path = "../support.rs"]
mod support;

mod completions;
mod examples;
mod fip;
mod fip_build;
mod fip_pack;
mod fip_trust;
mod installs;
mod refused;
mod release;
mod tree;
