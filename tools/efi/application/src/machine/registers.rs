//! Reads the registers of this CPU that are accessible at both EL1 and EL2.

use aarch64_cpu::registers::{CurrentEL, ID_AA64PFR0_EL1, MIDR_EL1, MPIDR_EL1, Readable as _};
use hardware::board::Mpidr;

/// The implementer and part number fields of MIDR_EL1, and their values for Cortex-A73.
const PART_MASK: u64 = 0xff00_fff0;
const CORTEX_A73: u64 = 0x4100_d090;

/// Returns this CPU's affinity.
pub fn mpidr() -> Mpidr {
    Mpidr::new(MPIDR_EL1.get())
}

/// Returns true if Aff0 is the thread number.
pub fn mpidr_counts_threads() -> bool {
    MPIDR_EL1.is_set(MPIDR_EL1::MT)
}

/// Returns this CPU's `compatible` string for a device tree. ACPI has no CPU names, and the payload
/// only needs to recognize Cortex-A73, which has a counter erratum.
pub fn cpu_compatible() -> &'static str {
    match MIDR_EL1.get() & PART_MASK {
        CORTEX_A73 => "arm,cortex-a73",
        _ => "arm,armv8",
    }
}

/// Returns true if the CPU has GIC system registers (GICv3 or later).
pub fn has_gic_v3() -> bool {
    ID_AA64PFR0_EL1.get() >> 24 & 0xf != 0
}

/// Returns the exception level, 1 to 3.
pub fn exception_level() -> u64 {
    CurrentEL.read(CurrentEL::EL)
}
