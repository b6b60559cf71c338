//! Device trees built from ACPI tables: from a machine's tables with one change at a time, from AML
//! compiled by iasl, and from corrupted tables.

#[path = "../common/mod.rs"]
mod common;

mod aml;
mod hostile;
mod machine;
mod methods;
mod skipped;
mod tables;
