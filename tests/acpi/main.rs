//! Device trees from ACPI tables: those of a machine, changed one by one; AML compiled by iasl; and
//! broken tables.

#[path = "../common/mod.rs"]
mod common;

mod aml;
mod hostile;
mod machine;
mod tables;
