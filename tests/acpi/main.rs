//! Device trees built from ACPI tables: a machine's tables, changed one at a time; AML compiled by
//! iasl; and broken tables.

#[path = "../common/mod.rs"]
mod common;

mod aml;
mod hostile;
mod machine;
mod tables;
