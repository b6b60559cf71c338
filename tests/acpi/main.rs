//! Device trees built from ACPI tables: a machine's tables, with one change at a time; AML compiled
//! by iasl; and corrupted tables.

#[path = "../common/mod.rs"]
mod common;

mod aml;
mod hostile;
mod machine;
mod tables;
