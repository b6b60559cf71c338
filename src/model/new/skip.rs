//! Reasons for which nothing is measured.

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
    /// How large the caches are is not known, and no `dirty=` was given.
    NoCacheSize,
    /// There are fewer CPUs than any step of `contend=` takes.
    TooFewCpus,
    /// SET_SUSPEND_MODE is advertised, and returns this error.
    ModeRefused(psci::Error),
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
