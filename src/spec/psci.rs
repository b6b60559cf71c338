//! PSCI as this payload uses it: function IDs, return codes, `power_state`.
//!
//! Source: Arm Power State Coordination Interface, DEN0022F (PSCI 1.3); the
//! section numbers below are that document's. Nothing here calls firmware.

use core::fmt;

use serde::Deserialize;

use crate::spec::words::words;

/// Function IDs in their SMC64 form where PSCI defines one (section 5.1).
pub mod function {
    /// PSCI_VERSION (section 5.2).
    pub const VERSION: u32 = 0x8400_0000;
    /// CPU_SUSPEND (section 5.4).
    pub const CPU_SUSPEND: u32 = 0xc400_0001;
    /// CPU_OFF (section 5.5).
    pub const CPU_OFF: u32 = 0x8400_0002;
    /// CPU_ON (section 5.6).
    pub const CPU_ON: u32 = 0xc400_0003;
    /// AFFINITY_INFO (section 5.7).
    pub const AFFINITY_INFO: u32 = 0xc400_0004;
    /// SYSTEM_OFF (section 5.11).
    pub const SYSTEM_OFF: u32 = 0x8400_0008;
    /// SYSTEM_RESET (section 5.12).
    pub const SYSTEM_RESET: u32 = 0x8400_0009;
    /// PSCI_FEATURES (section 5.15).
    pub const FEATURES: u32 = 0x8400_000a;
    /// SYSTEM_SUSPEND (section 5.19).
    pub const SYSTEM_SUSPEND: u32 = 0xc400_000e;
    /// PSCI_SET_SUSPEND_MODE (section 5.20).
    pub const SET_SUSPEND_MODE: u32 = 0x8400_000f;
    /// PSCI_STAT_RESIDENCY (section 5.21).
    pub const STAT_RESIDENCY: u32 = 0xc400_0010;
    /// PSCI_STAT_COUNT (section 5.22).
    pub const STAT_COUNT: u32 = 0xc400_0011;
}

/// The affinity fields of an MPIDR: Aff3 in bits 39:32, Aff2..Aff0 in 23:0.
///
/// `target_cpu` arguments must have every other bit clear (section 5.6).
pub const AFFINITY_MASK: u64 = 0xff_00ff_ffff;

/// A PSCI return code below zero (section 5.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// -1: the firmware does not implement the function.
    NotSupported,
    /// -2: an argument is not valid, `power_state` included.
    InvalidParameters,
    /// -3: not allowed now.
    Denied,
    /// -4: the CPU is on already.
    AlreadyOn,
    /// -5: an earlier CPU_ON has not completed.
    OnPending,
    /// -6: the firmware failed.
    InternalFailure,
    /// -7: no such trusted OS.
    NotPresent,
    /// -8: the CPU is disabled.
    Disabled,
    /// -9: the entry point is not valid.
    InvalidAddress,
    /// A code that PSCI does not define.
    Unknown(i32),
}

impl Error {
    /// The error that `code` stands for.
    #[must_use]
    pub fn from_code(code: i32) -> Self {
        match code {
            -1 => Self::NotSupported,
            -2 => Self::InvalidParameters,
            -3 => Self::Denied,
            -4 => Self::AlreadyOn,
            -5 => Self::OnPending,
            -6 => Self::InternalFailure,
            -7 => Self::NotPresent,
            -8 => Self::Disabled,
            -9 => Self::InvalidAddress,
            other => Self::Unknown(other),
        }
    }
}

impl Error {
    /// The code that stands for this error.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Self::NotSupported => -1,
            Self::InvalidParameters => -2,
            Self::Denied => -3,
            Self::AlreadyOn => -4,
            Self::OnPending => -5,
            Self::InternalFailure => -6,
            Self::NotPresent => -7,
            Self::Disabled => -8,
            Self::InvalidAddress => -9,
            Self::Unknown(other) => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSupported => "NOT_SUPPORTED",
            Self::InvalidParameters => "INVALID_PARAMETERS",
            Self::Denied => "DENIED",
            Self::AlreadyOn => "ALREADY_ON",
            Self::OnPending => "ON_PENDING",
            Self::InternalFailure => "INTERNAL_FAILURE",
            Self::NotPresent => "NOT_PRESENT",
            Self::Disabled => "DISABLED",
            Self::InvalidAddress => "INVALID_ADDRESS",
            // Of a call that was not to come back.
            Self::Unknown(0) => "SUCCESS",
            Self::Unknown(code) => {
                return write!(f, "undefined code {}", *code);
            }
        })
    }
}

/// Decodes X0 as a call returned it.
///
/// Return codes are 32 bits wide in spirit: some firmware zero-extends a
/// negative W0, so only the low half is looked at.
///
/// # Errors
/// Any code below zero.
pub fn decode(x0: u64) -> Result<u32, Error> {
    let code = x0 as u32;
    match code as i32 {
        failure if failure < 0 => Err(Error::from_code(failure)),
        _ => Ok(code),
    }
}

words! {
    /// Which of the two layouts `power_state` has (section 5.4.2); bit 1 of
    /// PSCI_FEATURES(CPU_SUSPEND) tells.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum StateFormat, name {
        /// StateID in bits 15:0, type in bit 16, power level in bits 25:24.
        #[default]
        Original = "original",
        /// StateID in bits 27:0, type in bit 30.
        Extended = "extended",
    }
}

impl StateFormat {
    /// The format that a PSCI_FEATURES(CPU_SUSPEND) result stands for.
    #[must_use]
    pub fn from_features(features: u32) -> Self {
        if features & 0b10 == 0 {
            Self::Original
        } else {
            Self::Extended
        }
    }

    /// Returns the format that the firmware does not take.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Original => Self::Extended,
            Self::Extended => Self::Original,
        }
    }

    /// Whether every bit that the format reserves is zero in `power_state`.
    #[must_use]
    pub fn accepts(self, power_state: u32) -> bool {
        let reserved = match self {
            Self::Original => 0xfcfe_0000,
            Self::Extended => 0xb000_0000,
        };
        power_state & reserved == 0
    }

    /// Whether `power_state` asks for a power-down, so that the CPU comes
    /// back through its entry point.
    #[must_use]
    pub fn is_powerdown(self, power_state: u32) -> bool {
        let bit = match self {
            Self::Original => 16,
            Self::Extended => 30,
        };
        power_state & (1 << bit) != 0
    }

    /// The power level that `power_state` names, where the format has one.
    ///
    /// The extended format leaves the whole StateID to the platform: there
    /// the level has to come from elsewhere.
    #[must_use]
    pub fn level(self, power_state: u32) -> Option<u8> {
        match self {
            Self::Original => Some(((power_state >> 24) & 0b11) as u8),
            Self::Extended => None,
        }
    }
}

/// Why a state cannot be of the power level that a board says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLevel {
    /// `power_state` names this level.
    Names(u8),
    /// A standby state, which is of level 0 here.
    Standby,
}

impl StateFormat {
    /// Refuses a level that contradicts `power_state`.
    ///
    /// # Errors
    /// When it does.
    pub fn check_level(self, power_state: u32, level: u8) -> Result<(), WrongLevel> {
        match self.level(power_state) {
            Some(named) if named != level => Err(WrongLevel::Names(named)),
            _ if level > 0 && !self.is_powerdown(power_state) => Err(WrongLevel::Standby),
            _ => Ok(()),
        }
    }
}

/// Who decides which states the levels above a CPU go to (section 4.2.1): the
/// argument of SET_SUSPEND_MODE (section 5.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SuspendMode {
    /// The firmware, by what all CPUs below a node asked for.
    PlatformCoordinated,
    /// The caller: the last CPU down asks for the node, too.
    OsInitiated,
}

impl SuspendMode {
    /// Whether a PSCI_FEATURES(CPU_SUSPEND) result says that the mode can be
    /// set to OS-initiated (section 5.15.2, bit 0).
    #[must_use]
    pub fn is_advertised(features: u32) -> bool {
        features & 1 != 0
    }
}

/// AFFINITY_INFO's answer for one CPU (section 5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// 0: the CPU is on.
    On,
    /// 1: the CPU is off, as the firmware keeps its books.
    Off,
    /// 2: CPU_ON was called and has not completed.
    OnPending,
    /// An answer that PSCI does not define.
    Unknown(u32),
}

impl From<u32> for Affinity {
    fn from(code: u32) -> Self {
        match code {
            0 => Self::On,
            1 => Self::Off,
            2 => Self::OnPending,
            other => Self::Unknown(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_extended_error_is_an_error() {
        assert_eq!(decode(0xffff_fffe), Err(Error::InvalidParameters));
        assert_eq!(decode(u64::MAX), Err(Error::NotSupported));
        assert_eq!(decode(0x1_0001), Ok(0x1_0001));
    }

    #[test]
    fn every_code_comes_back() {
        for code in -20..0 {
            assert_eq!(Error::from_code(code).code(), code);
        }
    }

    #[test]
    fn codes_and_names() {
        for (code, name) in [
            (-1, "NOT_SUPPORTED"),
            (-3, "DENIED"),
            (-9, "INVALID_ADDRESS"),
            (-77, "undefined code -77"),
        ] {
            assert_eq!(std::format!("{}", Error::from_code(code)), name);
        }
    }

    #[test]
    fn both_formats() {
        use StateFormat::{Extended, Original};
        assert!(Original.is_powerdown(0x0101_0022));
        assert!(!Original.is_powerdown(0x1));
        assert_eq!(Original.level(0x0201_0222), Some(2));
        assert!(!Original.accepts(0x4000_0002));
        assert!(Extended.is_powerdown(0x4000_0022));
        assert!(!Extended.is_powerdown(0x0001_0002));
        assert_eq!(Extended.level(0x4000_0022), None);
        assert!(!Extended.accepts(0x8000_0000));
        assert_eq!(StateFormat::from_features(0b10), Extended);
        assert_eq!(StateFormat::from_features(0b01), Original);
    }
}
