//! ACPI tables.
