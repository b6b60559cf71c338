//! Why an outcome is no sample, and how a CPU gets lost.

use core::fmt;

use crate::spec::pmf::{Distrust, ReadError, Stamp};
use crate::spec::psci;

/// The step of a round in which a CPU was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Step {
    /// The lead called CPU_ON.
    TurnOn,
    /// The CPU was to run its first instruction and report.
    Arrive,
    /// The CPU was to take its orders and meet the others.
    Begin,
    /// The CPU was to come back from the call.
    Finish,
    /// AFFINITY_INFO was to say OFF.
    TurnOff,
}

impl Step {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::TurnOn,
        Self::Arrive,
        Self::Begin,
        Self::Finish,
        Self::TurnOff,
    ];
}

/// What went wrong in that step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The step's deadline passed.
    Timeout,
    /// The firmware returned this error.
    Firmware(psci::Error),
    /// The CPU took an exception and is parked.
    Exception,
    /// The CPU was entered with another context ID than it was given.
    Context,
}

/// A CPU that does not take part any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it was lost.
    pub step: Step,
    /// Why.
    pub cause: Cause,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match self.step {
            Step::TurnOn => "CPU_ON",
            Step::Arrive => "arrival after CPU_ON",
            Step::Begin => "rendezvous",
            Step::Finish => "return from the call",
            Step::TurnOff => "AFFINITY_INFO to say OFF",
        };
        match self.cause {
            Cause::Timeout => write!(f, "timed out waiting for {step}"),
            Cause::Firmware(error) => write!(f, "{step}: firmware returned {error}"),
            Cause::Exception => write!(f, "took an exception before {step}"),
            Cause::Context => write!(f, "entered with a wrong context ID before {step}"),
        }
    }
}

/// Why an outcome is not counted as a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// An interrupt was pending that could not be drained, or the timer frame's
    /// could not be enabled: the call, which would have been given up, or for
    /// ever, was not made.
    Pending,
    /// A power-down came back to its caller: the firmware gave it up for a
    /// pending interrupt, or only waited.
    Abandoned,
    /// The call returned an error.
    Refused,
    /// The CPU woke before its wake-up was due.
    EarlyWake,
    /// The SGI did not wake the CPU, or the timer frame the lead; its own timer
    /// or a second SGI did, far too late.
    NotRung,
    /// The CPU came back through the entry point with another context ID than
    /// it gave: the firmware mixes up its callers.
    WrongContext,
    /// The counter's erratum spoiled both reads before the call, or after it.
    CounterErratum,
    /// GET_TIMESTAMP failed.
    PmfRead,
    /// A timestamp is older than the call.
    Stale,
    /// A timestamp is newer than the return.
    Future,
    /// Timestamps are not in the order of their points.
    Disorder,
    /// The counter stopped while the CPU slept.
    CounterStopped,
    /// In a parallel round the first wake-up came before the last CPU was
    /// down; or the lead was active again before a CPU_OFF was over.
    Overlap,
    /// Sound in itself, but another CPU's part of the parallel round was not.
    Companion,
    /// The CPU was lost, or sent away before it did its part.
    Lost,
}

/// Number of [`Reason`]s.
pub const REASONS: usize = 15;

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; REASONS] = [
        Self::Pending,
        Self::Abandoned,
        Self::Refused,
        Self::EarlyWake,
        Self::NotRung,
        Self::WrongContext,
        Self::CounterErratum,
        Self::PmfRead,
        Self::Stale,
        Self::Future,
        Self::Disorder,
        Self::CounterStopped,
        Self::Overlap,
        Self::Companion,
        Self::Lost,
    ];

    /// The reason's name in records.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Abandoned => "abandoned",
            Self::Refused => "refused",
            Self::EarlyWake => "early-wake",
            Self::NotRung => "not-rung",
            Self::WrongContext => "wrong-context",
            Self::CounterErratum => "counter-erratum",
            Self::PmfRead => "pmf-read",
            Self::Stale => "stale",
            Self::Future => "future",
            Self::Disorder => "disorder",
            Self::CounterStopped => "counter-stopped",
            Self::Overlap => "overlap",
            Self::Companion => "companion",
            Self::Lost => "lost",
        }
    }
}

/// What a [`Reason`] was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing more to say.
    None,
    /// The firmware's error.
    Firmware(psci::Error),
    /// The timestamp.
    Stamp(Stamp),
    /// GET_TIMESTAMP's error.
    Pmf(ReadError),
    /// Where and why the CPU was lost.
    Loss(Loss),
}

/// Why an outcome does not count, in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The reason it is counted under.
    pub reason: Reason,
    /// What it was about.
    pub detail: Detail,
}

impl Rejection {
    /// A rejection about nothing in particular.
    #[must_use]
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

impl From<Distrust> for Rejection {
    fn from(distrust: Distrust) -> Self {
        let (reason, detail) = match distrust {
            Distrust::Stale(stamp) => (Reason::Stale, Detail::Stamp(stamp)),
            Distrust::Future(stamp) => (Reason::Future, Detail::Stamp(stamp)),
            Distrust::Disorder(stamp) => (Reason::Disorder, Detail::Stamp(stamp)),
            Distrust::CounterStopped => (Reason::CounterStopped, Detail::None),
        };
        Self { reason, detail }
    }
}
