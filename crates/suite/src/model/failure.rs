//! The reasons why a scenario fails.

use hardware::board::CpuIndex;
use hardware::spec::psci;
use serde::{Deserialize, Serialize};

use super::check::Probe;
use super::function::Function;
use crate::measure::{Loss, NoCpuOff, Rejection, TimerFault};
use crate::plan::Variant;

/// Why a scenario failed. CPUs are identified by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "sentences.rs describes each variant")]
pub enum Failure {
    /// A CPU has fewer than 90 % of the requested samples; `cpu` has the fewest.
    TooFewSamples {
        cpu: CpuIndex,
        valid: u32,
        asked: u32,
    },
    StateRefused {
        power_state: u32,
        error: psci::ReturnCode,
        cpu: CpuIndex,
    },
    CpuLost {
        cpu: CpuIndex,
        loss: Loss,
    },
    /// In every trial round, at least one CPU was not down before the first wake-up.
    NotCalibrated {
        /// The longest sleep that was tried, in ticks.
        sleep: u64,
        last: Rejection,
        cpu: CpuIndex,
    },
    Timer {
        cpu: CpuIndex,
        fault: TimerFault,
    },
    /// A loop was abandoned because the event that it was waiting for did not occur.
    GaveUp {
        variant: Variant,
        cpu: CpuIndex,
    },
    ModeStuck(psci::ReturnCode),
    /// CPUs could not be turned off between samples.
    NoCpuOff(NoCpuOff),
    WrongAnswer {
        variant: Variant,
        /// The low word of X0.
        answer: i32,
        cpu: CpuIndex,
    },
    /// A firmware function does not behave as specified.
    CheckFailed {
        function: Function,
        probe: Probe,
        /// The number of checks that failed, including this one.
        failed: u32,
    },
    /// TFTF does not give a reason, or the record was lost.
    NotStated,
}
