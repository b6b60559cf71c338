//! A mark in a register, which shows whether a CPU has lost its power in a suspend.
//!
//! The register is DBGBVR1_EL1, the address of the second breakpoint, which every CPU has. It is in
//! the core's power domain, and only a Cold reset changes it (DDI 0487, D24.3). If it still has its
//! value after the CPU has come back through its entry point, the core has kept its power, although
//! the firmware reported a power-down: a debugger may have asked for that, or the power controller
//! may have ignored the request. EL3 is not expected to change it: TF-A neither uses breakpoints nor
//! saves their registers. Linux writes it on each CPU that it starts, so firmware permits that.
//!
//! The breakpoint stays disabled. If it is in use, there is no mark.

use core::arch::asm;

/// An address that no code has. Bits 63 to 49 repeat bit 48, and bits 1 and 0 are 0.
const PATTERN: u64 = 0x0000_5a3c_96e1_0f4c;
/// DBGBCR1_EL1.E: the breakpoint is enabled.
const ENABLED: u64 = 1;

/// The mark of this CPU.
#[derive(Clone, Copy)]
pub struct PowerMark {
    /// The register's previous value.
    previous: u64,
}

impl PowerMark {
    /// Sets the mark. Returns None if the breakpoint is in use, or if the register does not keep the
    /// pattern.
    pub fn set() -> Option<Self> {
        if read_control() & ENABLED != 0 {
            return None;
        }
        let mark = Self {
            previous: read_address(),
        };
        write_address(PATTERN);
        let is_set = read_address() == PATTERN;
        if !is_set {
            write_address(mark.previous);
        }
        is_set.then_some(mark)
    }

    /// Returns true if this CPU still has the mark, and removes it.
    pub fn is_kept(self) -> bool {
        let is_kept = read_address() == PATTERN;
        write_address(self.previous);
        is_kept
    }
}

fn read_control() -> u64 {
    let value: u64;
    // SAFETY: reading DBGBCR1_EL1 has no effect.
    unsafe {
        asm!("mrs {}, dbgbcr1_el1", out(reg) value, options(nomem, nostack, preserves_flags))
    };
    value
}

fn read_address() -> u64 {
    let value: u64;
    // SAFETY: reading DBGBVR1_EL1 has no effect.
    unsafe {
        asm!("mrs {}, dbgbvr1_el1", out(reg) value, options(nomem, nostack, preserves_flags))
    };
    value
}

fn write_address(value: u64) {
    // SAFETY: DBGBVR1_EL1 has an effect only if DBGBCR1_EL1.E is set, which `PowerMark::set` excludes
    // and nothing in the payload changes.
    unsafe {
        asm!(
            "msr dbgbvr1_el1, {}",
            "isb",
            in(reg) value,
            options(nomem, nostack, preserves_flags)
        );
    }
}
