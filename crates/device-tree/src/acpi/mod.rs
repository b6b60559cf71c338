//! Converts a machine's ACPI tables (ACPI 6.5) to a device tree for the payload.
//!
//! | file | tables |
//! |---|---|
//! | `layouts` | the fields of all tables except DSDT and SSDT |
//! | `table`, `tables` | RSDP, XSDT; validation of all other tables |
//! | `convert` | FADT; the device tree |
//! | `madt` | MADT: CPUs, interrupt controller |
//! | `gtdt` | GTDT: timers, watchdog |
//! | `serial` | SPCR, DBG2: console |
//! | `pptt` | PPTT: clusters, L2 cache |
//! | `opcodes`, `aml`, `namespace` | DSDT, SSDT: the objects that idle states need |
//! | `lpi_method`, `lpi_reader`, `osc`, `lpi` | idle states |

mod aml;
mod convert;
mod gtdt;
mod layouts;
mod lpi;
mod lpi_method;
mod lpi_reader;
mod madt;
mod namespace;
mod opcodes;
mod osc;
mod pptt;
mod serial;
mod table;
mod tables;

pub use self::convert::{Conversion, to_tree, to_tree_of_cpus};
pub use self::tables::{Memory, Tables};
