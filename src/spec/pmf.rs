//! TF-A's Performance Measurement Framework (PMF): six timestamps a CPU,
//! read by SMC.
//!
//! Each CPU has one slot for each timestamp. A slot keeps its old value when
//! the path that a call took does not pass its capture point, and no flag
//! says so: `measure::Path` decides by time and order alone.

use core::fmt;
use serde::{Deserialize, Serialize};

/// The capture points of TF-A's runtime instrumentation, by timestamp ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Stamp {
    /// 0: entry of every PSCI call.
    EnterPsci = 0,
    /// 1: return of every PSCI call, or the end of the warm boot path.
    ExitPsci = 1,
    /// 2: just before the CPU waits in its low-power state.
    EnterHwLowPwr = 2,
    /// 3: just after it, or first in the warm entry point.
    ExitHwLowPwr = 3,
    /// 4: before the cache maintenance of a power-down.
    EnterCflush = 4,
    /// 5: after it.
    ExitCflush = 5,
}

/// Number of timestamps in a CPU's slot.
pub const STAMPS: usize = 6;

impl Stamp {
    /// The order in which a power-down and its wake-up pass the points.
    pub const IN_TIME: [Self; STAMPS] = [
        Self::EnterPsci,
        Self::EnterCflush,
        Self::ExitCflush,
        Self::EnterHwLowPwr,
        Self::ExitHwLowPwr,
        Self::ExitPsci,
    ];

    /// The TID: 0x41 in bits 31:24, service 1 in bits 15:10, the ID in bits 7:0.
    pub const fn tid(self) -> u32 {
        0x4100_0400 + self as u32
    }
}

/// The function ID under which the firmware answers GET_TIMESTAMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// Vendor-specific EL3 range: TF-A 2.11 and later.
    VendorEl3,
    /// Arm SiP range: TF-A up to 2.10.
    ArmSip,
}

impl Interface {
    /// In the order in which a caller should try them.
    pub const ALL: [Self; 2] = [Self::VendorEl3, Self::ArmSip];

    /// GET_TIMESTAMP in its SMC64 form.
    pub const fn get_timestamp(self) -> u32 {
        match self {
            Self::VendorEl3 => 0xc700_0020,
            Self::ArmSip => 0xc200_0010,
        }
    }

    /// Decodes what GET_TIMESTAMP left in X0 and X1.
    ///
    /// With an MPIDR that it does not know, TF-A 2.10 to 2.15 returns without
    /// writing X0: the function ID coming back unchanged is an error too.
    pub fn decode(self, x0: u64, x1: u64) -> Result<u64, ReadError> {
        match x0 as u32 as i32 {
            0 => Ok(x1),
            -1 => Err(ReadError::NotImplemented),
            -22 => Err(ReadError::BadTimestamp),
            code if code as u32 == self.get_timestamp() => Err(ReadError::UnknownCpu),
            code => Err(ReadError::Code(code)),
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = match self {
            Self::VendorEl3 => "vendor-specific EL3",
            Self::ArmSip => "Arm SiP",
        };
        write!(f, "{range} call {:#010x}", u64::from(self.get_timestamp()))
    }
}

/// The reason why GET_TIMESTAMP gave no timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadError {
    /// -1: the firmware has no such function.
    NotImplemented,
    /// -22: no such timestamp, or no such service.
    BadTimestamp,
    /// X0 came back as the function ID: the MPIDR was not accepted.
    UnknownCpu,
    /// Any other code.
    Code(i32),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotImplemented => "the firmware does not implement it (-1)",
            Self::BadTimestamp => "no such timestamp (-22)",
            Self::UnknownCpu => "X0 unchanged: MPIDR not accepted",
            Self::Code(code) => return write!(f, "code {code}"),
        })
    }
}

/// One CPU's slot, indexed by timestamp ID; CNTPCT ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps(pub [u64; STAMPS]);

impl Stamps {
    /// The value of one timestamp.
    pub fn at(&self, stamp: Stamp) -> u64 {
        self.0[stamp as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_is_success() {
        use Interface::{ArmSip, VendorEl3};
        use ReadError::{BadTimestamp, Code, NotImplemented, UnknownCpu};
        for (pmf, x0, expected) in [
            (VendorEl3, 0, Ok(77)),
            (VendorEl3, u64::MAX, Err(NotImplemented)),
            (VendorEl3, 0xffff_ffea, Err(BadTimestamp)),
            (VendorEl3, 0xc700_0020, Err(UnknownCpu)),
            (ArmSip, 0xc200_0010, Err(UnknownCpu)),
            (VendorEl3, 5, Err(Code(5))),
        ] {
            assert_eq!(pmf.decode(x0, 77), expected);
        }
    }
}
