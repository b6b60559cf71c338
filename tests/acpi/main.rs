//! Device trees of ACPI tables: of a machine's tables, changed one by one; of AML that iasl
//! compiles; and of tables that are broken.

mod aml;
mod hostile;
mod machine;
mod tables;
