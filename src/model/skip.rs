//! Reasons for which nothing is measured.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::board::NoFrame;
use crate::spec::{hex, psci};

/// The reason why a scenario, or one CPU's row of it, was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Skip {
    /// The board names no idle state of the kind, and the user none either.
    NoIdleState,
    /// The firmware takes power_state values of this format, and all power-down
    /// states of the board have the other one.
    OtherFormat(psci::StateFormat),
    /// The firmware does not implement the function.
    NotSupported(u32),
    /// The state stops the per-CPU timers, and there is no other wake source,
    /// for this reason.
    TimerStops(NoFrame),
    /// The state stops the per-CPU timers, and no trial of it was good.
    NotTried {
        /// The CPU of the trial.
        #[serde(with = "hex")]
        mpidr: u64,
        /// The value that was asked for.
        power_state: u32,
    },
    /// The state stops the per-CPU timers, and there is no second CPU to wake
    /// the first.
    NoHelper,
    /// There is no GIC, so that no interrupt wakes a suspended CPU.
    NoGic,
    /// There is no GIC, and so no timer's interrupt.
    NoInterrupts,
    /// DC ZVA is prohibited, and nothing else was asked for.
    NoZero,
    /// There is no GIC, and so no SGI.
    NoSgi,
    /// There is no performance monitors unit.
    NoPmu,
    /// PMF's timestamps can not be read.
    NoPmf,
    /// There is one CPU only.
    OneCpu,
    /// The caches' size is not known, and no `dirty=` was given.
    NoCacheSize,
    /// There are fewer CPUs than any step of `contend=` takes.
    TooFewCpus,
    /// SET_SUSPEND_MODE is advertised, and returns this error.
    ModeRefused(psci::ReturnCode),
    /// The state stops the per-CPU timers, and an SGI ended no suspend to it
    /// in the trial.
    SgiDidNotWake {
        /// The CPU of the trial.
        #[serde(with = "hex")]
        mpidr: u64,
        /// The value that was asked for.
        power_state: u32,
    },
    /// Not in the log: TFTF gives no reason, or the record was lost.
    NotStated,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stops = "the idle state stops the CPUs' own timers, and";
        f.write_str(match *self {
            Self::OtherFormat(format) => {
                let (takes, has) = (format.name(), format.other().name());
                return write!(
                    f,
                    "the firmware takes {takes} power_state values; the device tree has {has} \
                     ones. Use a tree with {takes} ones (--state-format, --deepest and --core of \
                     cargo xtask make one), or give the values by deepest= and core="
                );
            }
            Self::NotSupported(id) => {
                return write!(f, "the firmware does not implement function {id:#010x}");
            }
            Self::TimerStops(why) => return write!(f, "{stops} {why}"),
            Self::NoHelper => return write!(f, "{stops} there is no second CPU to wake the first"),
            Self::ModeRefused(error) => {
                return write!(f, "SET_SUSPEND_MODE is advertised, and returned {error}");
            }
            Self::NotTried { mpidr, power_state } => {
                let state = format_args!("{power_state:#010x}");
                return write!(f, "no trial of {state} on CPU {mpidr:#x} was good");
            }
            Self::SgiDidNotWake { mpidr, power_state } => {
                let state = format_args!("{power_state:#010x}");
                return write!(f, "SGI did not wake CPU {mpidr:#x} from {state}");
            }
            Self::NoIdleState => {
                "the board names no idle state of this kind; deepest= or core= can give one"
            }
            Self::NoGic => "no GIC: nothing could wake a suspended CPU",
            Self::NoInterrupts => "no GIC, and so no interrupt of a timer",
            Self::NoZero => "DC ZVA is prohibited here (DCZID_EL0.DZP)",
            Self::NoSgi => "no GIC, and so no SGI",
            Self::NoPmu => "the CPU has no performance monitors",
            Self::NoPmf => "PMF's timestamps can not be read",
            Self::OneCpu => "there is no other CPU to turn on",
            Self::NoCacheSize => {
                "neither the CPU nor the device tree tells how large a cache is; dirty= can give \
                 steps"
            }
            Self::TooFewCpus => {
                "there are fewer CPUs than contend= asks for; where the CPUs' own timers stop, \
                 one more stays awake"
            }
            Self::NotStated => "the log does not give the reason",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use psci::StateFormat::Extended;
    use std::string::ToString;

    #[test]
    fn sentences() {
        let (mpidr, power_state) = (0x101, 2);
        let all = [
            Skip::NoIdleState,
            Skip::OtherFormat(Extended),
            Skip::NotSupported(0xc400_0001),
            Skip::TimerStops(NoFrame::NotInTree),
            Skip::NotTried { mpidr, power_state },
            Skip::NoHelper,
            Skip::NoGic,
            Skip::NoInterrupts,
            Skip::NoZero,
            Skip::NoSgi,
            Skip::NoPmu,
            Skip::NoPmf,
            Skip::OneCpu,
            Skip::NoCacheSize,
            Skip::TooFewCpus,
            Skip::ModeRefused(psci::ReturnCode(-3)),
            Skip::SgiDidNotWake { mpidr, power_state },
            Skip::NotStated,
        ];
        let expected = "\
the board names no idle state of this kind; deepest= or core= can give one
the firmware takes extended power_state values; the device tree has original ones. Use a tree with extended ones \
(--state-format, --deepest and --core of cargo xtask make one), or give the values by deepest= and core=
the firmware does not implement function 0xc4000001
the idle state stops the CPUs' own timers, and the device tree has no timer frame (arm,armv7-timer-mem)
no trial of 0x00000002 on CPU 0x101 was good
the idle state stops the CPUs' own timers, and there is no second CPU to wake the first
no GIC: nothing could wake a suspended CPU
no GIC, and so no interrupt of a timer
DC ZVA is prohibited here (DCZID_EL0.DZP)
no GIC, and so no SGI
the CPU has no performance monitors
PMF's timestamps can not be read
there is no other CPU to turn on
neither the CPU nor the device tree tells how large a cache is; dirty= can give steps
there are fewer CPUs than contend= asks for; where the CPUs' own timers stop, one more stays awake
SET_SUSPEND_MODE is advertised, and returned DENIED
SGI did not wake CPU 0x101 from 0x00000002
the log does not give the reason";
        assert_eq!(all.map(|it| it.to_string()).join("\n"), expected);
    }
}
