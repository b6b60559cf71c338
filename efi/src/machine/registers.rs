//! Registers of this CPU that can be read at EL1 and EL2.

use core::arch::asm;

use psci_bench::spec::psci::AFFINITY_MASK;

/// MPIDR_EL1's bit MT: Aff0 numbers threads.
const MT: u64 = 1 << 24;
/// Implementer and part number of MIDR_EL1.
const PART_MASK: u64 = 0xff00_fff0;
/// Those of Cortex-A73.
const CORTEX_A73: u64 = 0x4100_d090;

fn mpidr_el1() -> u64 {
    let value: u64;
    // SAFETY: reads an ID register, which has no effect.
    unsafe { asm!("mrs {}, mpidr_el1", out(reg) value, options(nomem, nostack)) };
    value
}

/// Returns the affinity fields of MPIDR_EL1.
pub fn mpidr() -> u64 {
    mpidr_el1() & AFFINITY_MASK
}

/// Returns true if Aff0 numbers threads.
pub fn mpidr_counts_threads() -> bool {
    mpidr_el1() & MT != 0
}

/// Returns this CPU's name in a device tree, as far as the payload needs it: ACPI has none,
/// and Cortex-A73 has an erratum of its counter.
pub fn cpu_compatible() -> &'static str {
    let midr: u64;
    // SAFETY: reads an ID register, which has no effect.
    unsafe { asm!("mrs {}, midr_el1", out(reg) midr, options(nomem, nostack)) };
    match midr & PART_MASK {
        CORTEX_A73 => "arm,cortex-a73",
        _ => "arm,armv8",
    }
}

/// Returns the exception level, 1 to 3.
pub fn exception_level() -> u64 {
    let value: u64;
    // SAFETY: reads the level, which has no effect.
    unsafe { asm!("mrs {}, CurrentEL", out(reg) value, options(nomem, nostack)) };
    value >> 2 & 3
}
