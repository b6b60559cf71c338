//! Reasons for which a scenario fails.

use serde::{Deserialize, Serialize};

use super::point::Variant;
use crate::measure::{Fault, Loss, Rejection};
use crate::spec::psci;

/// The reason why a scenario failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// Fewer than 90 % of the samples asked for are valid on some CPU.
    TooFewSamples {
        /// The CPU with the fewest, by index.
        cpu: u16,
        /// Samples that count.
        valid: u32,
        /// Samples that were asked for.
        asked: u32,
    },
    /// The firmware refuses the `power_state`.
    StateRefused {
        /// The value that was asked for.
        power_state: u32,
        /// The firmware's answer.
        error: psci::ReturnCode,
        /// The CPU that got it, by index.
        cpu: u16,
    },
    /// A CPU was lost.
    CpuLost {
        /// The CPU, by index.
        cpu: u16,
        /// Where and why.
        loss: Loss,
    },
    /// In no trial round did all CPUs go down before the first wake-up.
    NotCalibrated {
        /// The longest sleep that was tried, in ticks.
        sleep: u64,
        /// Rejection of the last trial.
        last: Rejection,
        /// The CPU it was wrong on, by index.
        cpu: u16,
    },
    /// A look at a timer ended before its time.
    Timer {
        /// The CPU, by index.
        cpu: u16,
        /// Why.
        fault: Fault,
    },
    /// A loop was given up before its end: what it waits for did not come.
    GaveUp {
        /// Which, by its variant's name.
        variant: Variant,
        /// The CPU that it was on, by index.
        cpu: u16,
    },
    /// The firmware does not leave OS-initiated mode.
    ModeStuck(psci::ReturnCode),
    /// A call did not come back with what it has to.
    WrongAnswer {
        /// Which, by its variant's name.
        variant: Variant,
        /// The low word of X0.
        answer: i32,
        /// The CPU that got it, by index.
        cpu: u16,
    },
    /// Not in the log: TFTF gives no reason, or the record was lost.
    NotStated,
}
