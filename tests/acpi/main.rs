//! Device trees of ACPI tables: of a machine's tables, changed one by one; of AML that iasl
//! compiles; and of tables that are broken.

#[path = "../common/mod.rs"]
mod common;

mod aml;
mod hostile;
mod machine;
mod tables;
