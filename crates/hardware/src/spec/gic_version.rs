//! The GIC versions that matter to software.

use core::str::FromStr;

use serde::Deserialize;

/// The version of the interrupt controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "u32")]
pub enum GicVersion {
    /// GICv2, or older.
    V2 = 2,
    /// GICv3, or later.
    V3 = 3,
}

impl GicVersion {
    /// Returns 2 or 3.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

impl TryFrom<u32> for GicVersion {
    type Error = &'static str;

    fn try_from(number: u32) -> Result<Self, Self::Error> {
        match number {
            2 => Ok(Self::V2),
            3 => Ok(Self::V3),
            _ => Err("expected 2 or 3"),
        }
    }
}

impl FromStr for GicVersion {
    type Err = &'static str;

    fn from_str(digit: &str) -> Result<Self, Self::Err> {
        Self::try_from(digit.parse::<u32>().map_err(|_| "expected 2 or 3")?)
    }
}
