//! CPU affinities. Firmware, the GIC and device trees use the affinity fields in MPIDR_EL1 (DDI
//! 0487) to identify CPUs.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The affinity fields from a CPU's MPIDR_EL1, with Aff3 in bits 39:32 and Aff2 to Aff0 in bits
/// 23:0. All other bits are 0, as in the PSCI `target_cpu` parameter (DEN0022F, section 5.6). There
/// may be no CPU with this affinity.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
#[repr(transparent)]
pub struct Mpidr(u64);

impl Mpidr {
    /// The bits of the fields Aff0 to Aff3.
    const AFFINITY: u64 = 0xff_00ff_ffff;

    /// A description of valid values, for error messages.
    pub const EXPECTED: &str = "only affinity field bits, 0xff00ffffff";

    /// Returns the affinity fields from an MPIDR_EL1 value. Use `try_from` to check an untrusted
    /// number.
    pub const fn new(register: u64) -> Self {
        Self(register & Self::AFFINITY)
    }

    /// Returns the fields in their MPIDR_EL1 positions.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the lowest field: the core number or, if the MT bit is set, the thread number.
    pub const fn aff0(self) -> u8 {
        self.0 as u8
    }

    /// Returns the second field.
    pub const fn aff1(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Returns the third field.
    pub const fn aff2(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// Returns the highest field.
    pub const fn aff3(self) -> u8 {
        (self.0 >> 32) as u8
    }
}

/// The error for a number with bits set outside the affinity fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAffinity(u64);

impl fmt::Display for NotAffinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MPIDR {:#x}, expected {}", self.0, Mpidr::EXPECTED)
    }
}

impl TryFrom<u64> for Mpidr {
    type Error = NotAffinity;

    fn try_from(number: u64) -> Result<Self, NotAffinity> {
        if number & !Self::AFFINITY == 0 {
            Ok(Self(number))
        } else {
            Err(NotAffinity(number))
        }
    }
}

impl From<Mpidr> for u64 {
    fn from(mpidr: Mpidr) -> Self {
        mpidr.0
    }
}

/// Formats the affinity in hexadecimal, for example `0x101`.
impl fmt::Display for Mpidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::LowerHex for Mpidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

impl fmt::Debug for Mpidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_kept_and_other_bits_are_not() {
        let mpidr = Mpidr::new(0x04_8103_0201);
        assert_eq!(mpidr.number(), 0x04_0003_0201);
        let fields = [mpidr.aff0(), mpidr.aff1(), mpidr.aff2(), mpidr.aff3()];
        assert_eq!(fields, [1, 2, 3, 4]);
        let texts = [std::format!("{mpidr}"), std::format!("{mpidr:x}")];
        assert_eq!(texts, ["0x400030201", "400030201"]);
    }

    #[test]
    fn untrusted_number_has_only_affinity_fields() {
        for number in [0, 0x101, 0xff_00ff_ffff] {
            assert_eq!(Mpidr::try_from(number), Ok(Mpidr::new(number)));
        }
        for number in [1 << 24, 1 << 31, 1 << 40, u64::MAX] {
            assert_eq!(Mpidr::try_from(number), Err(NotAffinity(number)));
        }
        assert_eq!(
            std::format!("{}", NotAffinity(0x8000_0002)),
            "MPIDR 0x80000002, expected only affinity field bits, 0xff00ffffff"
        );
    }
}
