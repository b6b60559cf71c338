//! TF-A's Performance Measurement Framework (PMF): six timestamps a CPU,
//! read by SMC, and when they must not be believed.
//!
//! Each CPU has one slot for each timestamp. A slot keeps its old value when
//! the path that a call took does not pass its capture point, and no flag
//! says so: [`Stamps::check`] decides by time and order alone.

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

    /// The timestamp's TID: 0x41 in bits 31:24, service 1 (runtime
    /// instrumentation) in bits 15:10, the ID in bits 7:0.
    #[must_use]
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
    #[must_use]
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
    ///
    /// # Errors
    /// Every X0 whose low half is not zero.
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

/// Why GET_TIMESTAMP gave no timestamp.
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
        match self {
            Self::NotImplemented => write!(f, "the firmware does not implement it (-1)"),
            Self::BadTimestamp => write!(f, "no such timestamp (-22)"),
            Self::UnknownCpu => write!(f, "X0 unchanged: MPIDR not accepted"),
            Self::Code(code) => write!(f, "code {}", *code),
        }
    }
}

/// Which timestamps a path captures, and what bounds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// A call that only enters and leaves: 0, 1.
    Call,
    /// A suspend in standby: 0, 2, 3, 1.
    Standby,
    /// A suspend through power-down: 0, 4, 5, 2, 3, 1.
    PowerDown,
    /// CPU_OFF, and the CPU_ON that ended it, called at this counter value:
    /// 0, 4, 5, 2 before it; 3 and 1 after it.
    OffOn {
        /// CNTPCT when the lead called CPU_ON.
        turned_on: u64,
    },
}

impl Path {
    /// Returns true if a call along this path writes the timestamp: another's value
    /// is an old one.
    #[must_use]
    pub fn captures(self, stamp: Stamp) -> bool {
        match self {
            Self::Call => matches!(stamp, Stamp::EnterPsci | Stamp::ExitPsci),
            Self::Standby => !matches!(stamp, Stamp::EnterCflush | Stamp::ExitCflush),
            Self::PowerDown | Self::OffOn { .. } => true,
        }
    }
}

/// Why a slot's timestamps do not describe the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// Older than the call: its point was not passed this time.
    Stale(Stamp),
    /// Newer than the return from the call.
    Future(Stamp),
    /// Between call and return, but before the point that comes ahead of it.
    Disorder(Stamp),
    /// EXIT_HW_LOW_PWR before ENTER_HW_LOW_PWR: the counter stopped or was
    /// set back while the CPU slept.
    CounterStopped,
}

/// Durations in counter ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// ENTER_PSCI to ENTER_HW_LOW_PWR; for [`Path::Call`] to EXIT_PSCI.
    pub powerdown: u64,
    /// EXIT_HW_LOW_PWR to EXIT_PSCI.
    pub wakeup: u64,
    /// ENTER_CFLUSH to EXIT_CFLUSH; 0 on a path without cache maintenance.
    pub cache_flush: u64,
}

/// One CPU's slot, indexed by timestamp ID; CNTPCT ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps(pub [u64; STAMPS]);

impl Stamps {
    /// The value of one timestamp.
    #[must_use]
    pub fn at(&self, stamp: Stamp) -> u64 {
        self.0[stamp as usize]
    }

    /// The latencies of a call along `path` that began after the counter
    /// read `before` and came back ahead of the counter read `after`.
    ///
    /// # Errors
    /// The first timestamp in time's order that cannot be this call's.
    pub fn check(&self, path: Path, before: u64, after: u64) -> Result<Latencies, Distrust> {
        let mut floor = before;
        for stamp in Stamp::IN_TIME.into_iter().filter(|s| path.captures(*s)) {
            let value = self.at(stamp);
            if value < before {
                // ENTER_HW_LOW_PWR comes earlier and was this call's.
                return Err(if stamp == Stamp::ExitHwLowPwr {
                    Distrust::CounterStopped
                } else {
                    Distrust::Stale(stamp)
                });
            }
            if value > after {
                return Err(Distrust::Future(stamp));
            }
            if let (Path::OffOn { turned_on }, Stamp::ExitHwLowPwr) = (path, stamp) {
                if floor > turned_on {
                    return Err(Distrust::Disorder(Stamp::EnterHwLowPwr));
                }
                if value < turned_on {
                    return Err(Distrust::Stale(stamp));
                }
            }
            if value < floor {
                return Err(if stamp == Stamp::ExitHwLowPwr {
                    Distrust::CounterStopped
                } else {
                    Distrust::Disorder(stamp)
                });
            }
            floor = value;
        }
        let span = |from: Stamp, to: Stamp| self.at(to) - self.at(from);
        Ok(match path {
            Path::Call => Latencies {
                powerdown: span(Stamp::EnterPsci, Stamp::ExitPsci),
                ..Latencies::default()
            },
            Path::Standby => Latencies {
                powerdown: span(Stamp::EnterPsci, Stamp::EnterHwLowPwr),
                wakeup: span(Stamp::ExitHwLowPwr, Stamp::ExitPsci),
                cache_flush: 0,
            },
            Path::PowerDown | Path::OffOn { .. } => Latencies {
                powerdown: span(Stamp::EnterPsci, Stamp::EnterHwLowPwr),
                wakeup: span(Stamp::ExitHwLowPwr, Stamp::ExitPsci),
                cache_flush: span(Stamp::EnterCflush, Stamp::ExitCflush),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0, 4, 5, 2, 3, 1 at 110, 120, 150, 160, 300, 340.
    const GOOD: Stamps = Stamps([110, 340, 160, 300, 120, 150]);

    fn with(stamp: Stamp, value: u64) -> Stamps {
        let mut stamps = GOOD;
        stamps.0[stamp as usize] = value;
        stamps
    }

    #[test]
    fn tids() {
        assert_eq!(Stamp::EnterPsci.tid(), 0x4100_0400);
        assert_eq!(Stamp::ExitCflush.tid(), 0x4100_0405);
    }

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

    #[test]
    fn a_good_power_down() {
        let latencies = Latencies {
            powerdown: 50,
            wakeup: 40,
            cache_flush: 30,
        };
        // The bounds belong to the window.
        for [before, after] in [[100, 350], [110, 340]] {
            let found = GOOD.check(Path::PowerDown, before, after);
            assert_eq!(found, Ok(latencies));
        }
    }

    #[test]
    fn each_stamp_is_checked_for_time_and_order() {
        use Distrust::{CounterStopped, Disorder, Future, Stale};
        use Stamp::{EnterCflush, EnterHwLowPwr, ExitCflush, ExitHwLowPwr, ExitPsci};
        let check = |stamps: Stamps| stamps.check(Path::PowerDown, 100, 350).err();
        for stamp in Stamp::IN_TIME {
            let stale = match stamp {
                ExitHwLowPwr => CounterStopped,
                other => Stale(other),
            };
            assert_eq!(check(with(stamp, 99)), Some(stale));
            assert_eq!(check(with(stamp, 351)), Some(Future(stamp)));
        }
        for (stamp, value) in [
            (EnterCflush, 105),
            (ExitCflush, 115),
            (EnterHwLowPwr, 140),
            (ExitPsci, 290),
        ] {
            assert_eq!(check(with(stamp, value)), Some(Disorder(stamp)));
        }
        assert_eq!(check(with(ExitHwLowPwr, 155)), Some(CounterStopped));
        // An abandoned power-down leaves the slot as it was.
        let abandoned = Stamps([110, 120, 16, 30, 12, 15]);
        let found = abandoned.check(Path::PowerDown, 100, 130);
        assert_eq!(found, Err(Stale(EnterCflush)));
    }

    #[test]
    fn standby_ignores_the_flush_and_a_call_all_but_its_ends() {
        let mut stamps = GOOD;
        stamps.0[4] = 3;
        stamps.0[5] = 2;
        assert!(stamps.check(Path::PowerDown, 100, 350).is_err());
        let standby = stamps.check(Path::Standby, 100, 350);
        assert_eq!(standby.map(|it| it.cache_flush), Ok(0));
        stamps.0[2] = 0;
        assert!(stamps.check(Path::Standby, 100, 350).is_err());
        let call = stamps.check(Path::Call, 100, 350);
        assert_eq!(call.map(|it| it.powerdown), Ok(230));
    }

    /// From the last instant before WFI to the first one after it.
    #[test]
    fn cpu_off_is_split_by_the_second_cpu_on() {
        for (turned_on, expected) in [
            (155, Some(Distrust::Disorder(Stamp::EnterHwLowPwr))),
            (160, None),
            (200, None),
            (300, None),
            (310, Some(Distrust::Stale(Stamp::ExitHwLowPwr))),
        ] {
            let found = GOOD.check(Path::OffOn { turned_on }, 100, 350);
            assert_eq!(found.err(), expected, "{turned_on}");
        }
    }
}
