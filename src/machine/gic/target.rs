//! The items of GICv2 and GICv3 alike.

/// The SGI that wakes a CPU where the pattern is a chain.
pub const WAKE_SGI: u32 = 0;

/// Priority of all of them: a middle one of the non-secure half.
pub const PRIORITY: u8 = 0xa0;

/// How a CPU sends the wake-up SGI to itself, acknowledges and ends it.
pub enum OwnSgi {
    /// GICv2: what to write to GICD_SGIR, its address and GICC_IAR's, which
    /// GICC_EOIR is behind.
    Registers {
        /// The value.
        value: u64,
        /// Address of GICD_SGIR.
        sgir: u64,
        /// Address of GICC_IAR.
        iar: u64,
    },
    /// GICv3: what to write to ICC_SGI1R_EL1.
    System {
        /// The value.
        value: u64,
    },
}

/// Why this CPU's part of the GIC could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GicError {
    /// No redistributor has this CPU's affinity.
    NoRedistributor,
    /// ICC_SRE_EL1.SRE stays 0: the system registers are not to be had.
    NoSystemRegisters,
    /// A register write stayed pending.
    Timeout,
    /// The redistributor does not wake up.
    Asleep,
}

impl core::fmt::Display for GicError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoRedistributor => "no GIC redistributor has this CPU's affinity",
            Self::NoSystemRegisters => "this CPU has no GICv3 system registers",
            Self::Timeout => "a GIC register write stayed pending",
            Self::Asleep => "the GIC redistributor does not wake up",
        })
    }
}
