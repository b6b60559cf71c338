//! The version of a board's interrupt controller.

use std::str::FromStr;

use anyhow::Result;

/// The version of the interrupt controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gic {
    /// GICv2.
    V2,
    /// GICv3.
    V3,
}

impl Gic {
    /// Returns 2 or 3.
    pub fn number(self) -> u32 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }
}

impl FromStr for Gic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "2" => Ok(Self::V2),
            "3" => Ok(Self::V3),
            other => Err(format!("{other:?} is not a GIC version: use 2 or 3")),
        }
    }
}
