//! Why an outcome is not a sample, and how CPUs are lost.

use core::fmt;

use hardware::spec::pmf::{ReadError, Stamp};
use hardware::spec::psci;
use hardware::words;
use serde::{Deserialize, Serialize};

words! {
    /// A phase of a round in which a CPU may be lost.
    #[expect(missing_docs, reason = "the Display impl describes each variant")]
    pub enum RoundPhase, word {
        TurnOn = "turn-on",
        Arrive = "arrive",
        Begin = "begin",
        Finish = "finish",
        TurnOff = "turn-off",
    }
}

/// The cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the Display impl describes each variant")]
pub enum Cause {
    Timeout,
    Firmware(psci::ReturnCode),
    /// CPU_OFF returned with this code.
    CpuOff(psci::ReturnCode),
    /// The CPU took an exception and is parked.
    Exception,
    Context,
    /// AFFINITY_INFO returned OFF for a CPU that had not completed its order.
    OffTooEarly,
}

/// How a CPU was lost. A lost CPU does not take part in later rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The phase in which the CPU was lost.
    #[serde(alias = "step")]
    pub phase: RoundPhase,
    /// What ended the wait for the CPU.
    pub cause: Cause,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            RoundPhase::TurnOn => "CPU_ON",
            RoundPhase::Arrive => "its first report",
            RoundPhase::Begin => "rendezvous",
            RoundPhase::Finish => "return from the call",
            RoundPhase::TurnOff => "AFFINITY_INFO to return OFF",
        };
        match self.cause {
            Cause::Timeout if self.phase == RoundPhase::Arrive => {
                f.write_str("CPU_ON returned SUCCESS, but the CPU did not arrive in time")
            }
            Cause::Timeout => write!(f, "timed out waiting for {phase}"),
            Cause::Firmware(error) => write!(f, "{phase}: firmware returned {error}"),
            Cause::CpuOff(code) => write!(f, "CPU_OFF returned {code}"),
            Cause::Exception => write!(f, "took an exception before {phase}"),
            Cause::Context => write!(f, "entered with a wrong context ID before {phase}"),
            Cause::OffTooEarly => f.write_str("AFFINITY_INFO returned OFF before CPU_OFF"),
        }
    }
}

words! {
    /// Why an outcome is not counted as a sample.
    pub enum Reason, key {
        /// An interrupt stayed pending, or the timer frame interrupt could not be enabled. The call
        /// was not made, because it might never have returned.
        Pending = "pending",
        /// A power-down returned to its caller: the firmware abandoned it or merely waited.
        Abandoned = "abandoned",
        /// The call returned an error.
        Refused = "refused",
        /// The CPU woke up before its wake-up was due.
        EarlyWake = "early-wake",
        /// The SGI, timer or timer frame did not wake the CPU; something else did later.
        #[serde(alias = "not-rung")]
        WokenByFallback = "woken-by-fallback",
        /// The CPU came back with the wrong context ID: the firmware mixes up its callers.
        WrongContext = "wrong-context",
        /// The counter erratum corrupted both reads before the call, or both after it.
        CounterErratum = "counter-erratum",
        /// GET_TIMESTAMP failed.
        PmfRead = "pmf-read",
        /// A timestamp is older than the call.
        Stale = "stale",
        /// A timestamp is newer than the return.
        Future = "future",
        /// The timestamps are not in capture point order.
        Disorder = "disorder",
        /// The counter stopped while the CPU slept.
        CounterStopped = "counter-stopped",
        /// In a parallel round, the first wake-up came before the last CPU was down; or the lead
        /// was active again before a CPU_OFF was complete.
        Overlap = "overlap",
        /// The CPU returned after the end of the round's quiet time, when other CPUs were active
        /// again.
        LateReturn = "late-return",
        /// The sample was valid, but another CPU's outcome in the parallel round was not.
        Companion = "companion",
        /// The CPU was lost, or it was abandoned before it performed its action.
        Lost = "lost",
        /// An operation in a loop's batch was abandoned, or its return value was wrong.
        WrongAnswer = "wrong-answer",
        /// A timer expiry had already passed when the handler for an earlier expiry ran.
        Overrun = "overrun",
    }
}

impl Reason {
    /// Returns true if the timestamps could not be read, or do not belong to the call.
    pub const fn is_about_stamps(self) -> bool {
        matches!(
            self,
            Self::PmfRead | Self::Stale | Self::Future | Self::Disorder | Self::CounterStopped
        )
    }

    /// Returns the wait that may have been too short, and that later attempts therefore lengthen;
    /// None if a longer wait would not help.
    pub const fn short_wait(self) -> Option<ShortWait> {
        match self {
            Self::Pending | Self::Abandoned | Self::Overlap | Self::EarlyWake | Self::Stale => {
                Some(ShortWait::Sleep)
            }
            Self::LateReturn => Some(ShortWait::Quiet),
            Self::Refused
            | Self::WokenByFallback
            | Self::WrongContext
            | Self::CounterErratum
            | Self::PmfRead
            | Self::Future
            | Self::Disorder
            | Self::CounterStopped
            | Self::Companion
            | Self::Lost
            | Self::WrongAnswer
            | Self::Overrun => None,
        }
    }
}

/// The wait in a round that was too short for an attempt to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortWait {
    /// The time from the start to the first wake-up: a CPU was not down when its wake-up came.
    Sleep,
    /// The time after the wake-up in which no other CPU is active: a CPU was not back in time.
    Quiet,
}

/// The number of [`Reason`]s.
pub const REASONS: usize = Reason::COUNT;

/// Details for a [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// No details.
    None,
    /// The firmware's error.
    Firmware(psci::ReturnCode),
    /// The first timestamp that cannot belong to the call.
    Stamp(Stamp),
    /// GET_TIMESTAMP's error.
    Pmf(ReadError),
    /// The phase in which the CPU was lost, and why.
    Loss(Loss),
}

/// Why an outcome does not count, with details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The reason under which the rejection is counted.
    pub reason: Reason,
    /// The error, timestamp or loss behind the reason, if there is one.
    pub detail: Detail,
}

impl Rejection {
    /// Returns a rejection without details.
    pub const fn plain(reason: Reason) -> Self {
        Self {
            reason,
            detail: Detail::None,
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.key())?;
        match self.detail {
            Detail::None => Ok(()),
            Detail::Firmware(error) => write!(f, ": firmware returned {error}"),
            Detail::Stamp(stamp) => write!(f, ": {stamp:?}"),
            Detail::Pmf(error) => write!(f, ": {error}"),
            Detail::Loss(loss) => write!(f, ": {loss}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn each_reason_is_documented() {
        let docs = include_str!("../../../../docs/reliability.md");
        let rows: Vec<&str> = docs
            .lines()
            .skip_while(|line| *line != "## Attempts that are not counted")
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(key, _)| key)
            .take(REASONS)
            .collect();
        assert_eq!(rows, Reason::ALL.map(Reason::key));
    }

    #[test]
    fn loss_is_displayed_by_phase_and_cause() {
        let firmware = Cause::Firmware(psci::ReturnCode(-2));
        let cpu_off = Cause::CpuOff(psci::ReturnCode(-3));
        for (phase, cause, expected) in [
            (
                RoundPhase::TurnOn,
                Cause::Timeout,
                "timed out waiting for CPU_ON",
            ),
            (
                RoundPhase::Arrive,
                Cause::Timeout,
                "CPU_ON returned SUCCESS, but the CPU did not arrive in time",
            ),
            (
                RoundPhase::Begin,
                Cause::Timeout,
                "timed out waiting for rendezvous",
            ),
            (
                RoundPhase::Finish,
                Cause::Exception,
                "took an exception before return from the call",
            ),
            (
                RoundPhase::Arrive,
                Cause::Context,
                "entered with a wrong context ID before its first report",
            ),
            (
                RoundPhase::TurnOff,
                firmware,
                "AFFINITY_INFO to return OFF: firmware returned INVALID_PARAMETERS",
            ),
            (RoundPhase::TurnOff, cpu_off, "CPU_OFF returned DENIED"),
            (
                RoundPhase::TurnOff,
                Cause::OffTooEarly,
                "AFFINITY_INFO returned OFF before CPU_OFF",
            ),
        ] {
            assert_eq!(Loss { phase, cause }.to_string(), expected);
        }
    }
}
