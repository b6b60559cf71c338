//! The state in which firmware enters a CPU after CPU_ON or a power-down (DEN0022F, section 6.4).

use serde::{Deserialize, Serialize};

/// The SCTLR_ELx bits M and C: MMU and data caches on.
const MMU_AND_CACHES: u64 = 1 | 1 << 2;
/// SCTLR_ELx.EE: data accesses are big-endian.
const BIG_ENDIAN: u64 = 1 << 25;
/// The SCTLR_EL1 bits that are RES1 in Armv8.0.
const EL1_RES1: u64 = 0x30d0_0800;
/// The SCTLR_EL2 bits that are RES1 in Armv8.0 if HCR_EL2.E2H is 0.
const EL2_RES1: u64 = 0x30c5_0830;

/// The registers with which a CPU was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryState {
    /// The exception level, the stack pointer's selection and the exception masks, in the layout of
    /// SPSR_ELx.
    pub pstate: u64,
    /// SCTLR of the exception level.
    pub sctlr: u64,
}

impl EntryState {
    /// Returns the exception level.
    pub const fn exception_level(self) -> u8 {
        (self.pstate >> 2 & 3) as u8
    }

    /// Returns true if all exceptions were masked.
    pub const fn is_masked(self) -> bool {
        self.pstate >> 6 & 0xf == 0xf
    }

    /// Returns true if the exception level's own stack pointer was selected.
    pub const fn uses_own_stack_pointer(self) -> bool {
        self.pstate & 1 == 1
    }

    /// Returns true if the MMU and the data caches were off.
    pub const fn is_uncached(self) -> bool {
        self.sctlr & MMU_AND_CACHES == 0
    }

    /// Returns true if data accesses were little-endian, as those of the payload's calls.
    pub const fn is_little_endian(self) -> bool {
        self.sctlr & BIG_ENDIAN == 0
    }

    /// Returns true if all bits of SCTLR that are RES1 in Armv8.0 were set. Later versions of the
    /// architecture define some of them. If `e2h`, SCTLR_EL2 has the layout of SCTLR_EL1.
    pub const fn has_reserved_bits(self, e2h: bool) -> bool {
        let reserved = if self.exception_level() == 2 && !e2h {
            EL2_RES1
        } else {
            EL1_RES1
        };
        self.sctlr & reserved == reserved
    }
}
