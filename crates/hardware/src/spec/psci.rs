//! PSCI definitions that are not in the `smccc` crate: return code names and `power_state`.
//!
//! Section numbers below refer to the Arm Power State Coordination Interface, DEN0022F (PSCI 1.3).
//! This module does not call the firmware.

use core::fmt;

use serde::{Deserialize, Serialize};
use smccc::psci::Error;

use crate::words;

/// A PSCI return code (section 5.2.2), printed as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnCode(pub i32);

impl From<Error> for ReturnCode {
    fn from(error: Error) -> Self {
        Self(i64::from(error) as i32)
    }
}

impl fmt::Display for ReturnCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match Error::from(self.0) {
            Error::NotSupported => "NOT_SUPPORTED",
            Error::InvalidParameters => "INVALID_PARAMETERS",
            Error::Denied => "DENIED",
            Error::AlreadyOn => "ALREADY_ON",
            Error::OnPending => "ON_PENDING",
            Error::InternalFailure => "INTERNAL_FAILURE",
            Error::NotPresent => "NOT_PRESENT",
            Error::Disabled => "DISABLED",
            Error::InvalidAddress => "INVALID_ADDRESS",
            // The result of a call that should not have returned.
            Error::Unknown(0) => "SUCCESS",
            Error::Unknown(_) => return write!(f, "undefined code {}", self.0),
        })
    }
}

/// Treats a positive return code as success because only negative codes are errors.
pub fn accept_positive(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(Error::Unknown(code)) if code > 0 => Ok(()),
        other => other,
    }
}

/// Returns true if PSCI_FEATURES(CPU_SUSPEND) reports OS-initiated mode (5.15.2, bit 0).
pub fn has_os_initiated(features: u32) -> bool {
    features & 1 != 0
}

/// The reason why a state cannot have the power level specified by the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLevel {
    /// `power_state` contains this level.
    Names(u8),
    /// This is a standby state, which must have level 0.
    Standby,
}

words! {
    /// The `power_state` format (5.4.2), indicated by bit 1 of PSCI_FEATURES(CPU_SUSPEND).
    #[derive(Default)]
    pub enum StateFormat, name {
        /// StateID in bits 15:0, type in bit 16, power level in bits 25:24.
        #[default]
        Original = "original",
        /// StateID in bits 27:0, type in bit 30.
        Extended = "extended",
    }
}

impl StateFormat {
    /// Returns the format indicated by PSCI_FEATURES(CPU_SUSPEND).
    pub fn from_features(features: u32) -> Self {
        Self::ALL[(features >> 1 & 1) as usize]
    }

    /// Returns the format to which a valid value most likely belongs. A value that is a power-down
    /// state in the original format rarely occurs as a standby state in the extended format.
    pub fn of(power_state: u32) -> Self {
        let original = Self::Original;
        if original.accepts(power_state) && original.is_powerdown(power_state) {
            original
        } else {
            Self::Extended
        }
    }

    /// Returns the other format.
    pub fn other(self) -> Self {
        Self::ALL[1 - self as usize]
    }

    /// Returns true if all bits reserved in this format are zero in `power_state`.
    pub fn accepts(self, power_state: u32) -> bool {
        let reserved = [0xfcfe_0000, 0xb000_0000][self as usize];
        power_state & reserved == 0
    }

    /// Returns true if `power_state` requests a power-down.
    pub fn is_powerdown(self, power_state: u32) -> bool {
        power_state & [1 << 16, 1 << 30][self as usize] != 0
    }

    /// Returns the power level in `power_state`, or None for the extended format.
    pub fn level(self, power_state: u32) -> Option<u8> {
        (self == Self::Original).then_some((power_state >> 24 & 0b11) as u8)
    }

    /// Returns an error if the level contradicts `power_state`.
    pub fn check_level(self, power_state: u32, level: u8) -> Result<(), WrongLevel> {
        match self.level(power_state) {
            Some(named) if named != level => Err(WrongLevel::Names(named)),
            _ if level > 0 && !self.is_powerdown(power_state) => Err(WrongLevel::Standby),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_printed_by_name() {
        let names = "SUCCESS NOT_SUPPORTED INVALID_PARAMETERS DENIED ALREADY_ON ON_PENDING \
                     INTERNAL_FAILURE NOT_PRESENT DISABLED INVALID_ADDRESS";
        let unknown = [(77, "undefined code -77")];
        for (code, name) in (0..).zip(names.split(' ')).chain(unknown) {
            assert_eq!(std::format!("{}", ReturnCode(-code)), name);
            assert_eq!(ReturnCode::from(Error::from(-code)), ReturnCode(-code));
        }
    }

    #[test]
    fn only_codes_below_zero_are_errors() {
        let unknown = |code| Err(Error::Unknown(code));
        assert_eq!(accept_positive(unknown(1)), Ok(()));
        for result in [Ok(()), unknown(-77), Err(Error::Denied)] {
            assert_eq!(accept_positive(result), result);
        }
    }

    #[test]
    fn both_formats() {
        use StateFormat::{Extended, Original};
        for (format, power_state, powerdown, level, accepted) in [
            (Original, 0x0101_0022, true, Some(1), true),
            (Original, 0x0200_0001, false, Some(2), true),
            (Original, 0x4000_0002, false, Some(0), false),
            (Extended, 0x4000_0022, true, None, true),
            (Extended, 0x0001_0002, false, None, true),
            (Extended, 0x8000_0000, false, None, false),
        ] {
            let found = (format.is_powerdown(power_state), format.level(power_state));
            assert_eq!(found, (powerdown, level), "{power_state:#x}");
            assert_eq!(format.accepts(power_state), accepted, "{power_state:#x}");
        }
        let formats = [0b10, 0b01].map(StateFormat::from_features);
        assert_eq!(formats, [Extended, Original]);
    }
}
