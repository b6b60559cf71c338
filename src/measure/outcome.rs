//! One CPU's part in one round: what it saw, and whether that is a sample.
//!
//! The machine half fills an [`Outcome`] with raw counter values and return
//! codes and judges nothing. [`Outcome::judge`] decides here, on the host as
//! on the board, whether the outcome counts; what does not count has a
//! [`Rejection`] that says why.

use super::rejection::{Detail, Loss, Reason, Rejection};
use crate::spec::words::words;

use crate::spec::pmf::{Latencies, Path, ReadError, Stamp, Stamps};
use crate::spec::psci;
use crate::spec::stat::Rise;

/// The instruction to a CPU for a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Nothing: the CPU has no part in the round.
    #[default]
    None,
    /// CPU_SUSPEND with this `power_state`.
    Suspend {
        /// The argument, in the firmware's format.
        power_state: u32,
        /// True if it asks for a power-down (type bit set).
        powerdown: bool,
    },
    /// SYSTEM_SUSPEND.
    SystemSuspend,
    /// Stay awake, and wake the others by SGI: no part of its own to measure.
    Help,
    /// CPU_OFF at the agreed start.
    Off,
    /// Read the timestamps that CPU_OFF and the CPU_ON after it left.
    ReadBack,
    /// PSCI_VERSION.
    Version,
    /// Handle a periodic timer's expiries, or load the memory meanwhile, as the
    /// round's window says.
    Expire,
    /// CPU_OFF at the agreed start, while the lead has looked for OFF without
    /// pause since before that.
    OnOff,
    /// An operation, again and again, timed as a whole.
    Repeat {
        /// Which.
        operation: Operation,
        /// The number of repetitions; at least 1.
        count: u32,
    },
}

/// The contents of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing: the loop itself.
    Nothing,
    /// A call of the function with this ID, without arguments.
    Call(u32),
    /// An SGI to this CPU, acknowledged and ended.
    SelfSgi,
    /// A read of PMSELR_EL0.
    SysregRead,
    /// GET_TIMESTAMP of one of this CPU's timestamps.
    ReadStamp,
}

impl Action {
    /// Returns true if it turns the CPU off.
    #[must_use]
    pub const fn turns_off(self) -> bool {
        matches!(self, Self::Off | Self::OnOff)
    }

    /// Returns true if it takes the CPU down.
    #[must_use]
    pub fn goes_down(self) -> bool {
        self.sleeps().is_some() || self.turns_off()
    }

    /// Of an action that puts the CPU to sleep until an interrupt: whether it
    /// asks for a power-down.
    #[must_use]
    pub fn sleeps(self) -> Option<bool> {
        match self {
            Self::Suspend { powerdown, .. } => Some(powerdown),
            Self::SystemSuspend => Some(true),
            _ => None,
        }
    }
}

/// The end of a CPU's part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The CPU had no part in the round, or did not do it.
    #[default]
    NotRun,
    /// The call returned to its caller.
    Returned,
    /// The CPU came back through the entry point it gave to CPU_SUSPEND.
    Resumed,
    /// The CPU was seen OFF after CPU_OFF.
    WentOff,
    /// The CPU came up by CPU_ON and read its timestamps.
    ReadBack,
    /// An interrupt stayed pending, so that the call was not made.
    Pending,
    /// As [`End::Resumed`], with another context ID than the CPU gave.
    WrongContext,
    /// The SGI, or the timer frame, that was to wake the CPU did not; something
    /// else did, far too late.
    NotRung,
    /// The CPU was lost.
    Lost(Loss),
}

/// One CPU's raw record of one round. Times are counter values in ticks;
/// 0 where the action has no such instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The instruction.
    pub action: Action,
    /// The end of it.
    pub end: End,
    /// The call's return code, the low word of X0: below zero is an
    /// error. 0 for a call that did not return. Of a loop, the last one's; 0
    /// where its operation is no call.
    pub code: i32,
    /// Cycles of a loop by PMCCNTR_EL0, where that counts.
    pub cycles: Option<u64>,
    /// The instant at which the round's CPUs agreed to call.
    pub start: u64,
    /// Read just before the call. Of one that ended in the entry point, where
    /// registers are lost, it is an earlier read, which was stored: that store,
    /// an ISB and another read are between it and the call. 0 where the
    /// counter's erratum spoiled the read.
    pub before: u64,
    /// Read just after it, likewise; first thing in the entry point.
    pub after: u64,
    /// The earliest instant at which a wake-up was due; for a CPU that was woken
    /// by SGI, the instant just before that was sent.
    pub due: u64,
    /// When the lead called CPU_ON for this CPU.
    pub turned_on: u64,
    /// This CPU's first instruction after CPU_ON.
    pub entered: u64,
    /// When the lead saw AFFINITY_INFO say OFF.
    pub seen_off: u64,
    /// The CPU's timestamps, read before its next PSCI call.
    pub stamps: Stamps,
    /// Why they could not be read; None too where PMF is not used.
    pub stamps_error: Option<ReadError>,
    /// By how much PSCI_STAT rose, where the round asked for it.
    pub rise: Rise,
}

words! {
    /// A figure that an outcome may hold, in ticks.
    pub enum Metric, key {
        /// PMF: ENTER_PSCI to ENTER_HW_LOW_PWR.
        Powerdown = "powerdown",
        /// PMF: EXIT_HW_LOW_PWR to EXIT_PSCI.
        Wakeup = "wakeup",
        /// PMF: ENTER_CFLUSH to EXIT_CFLUSH.
        CacheFlush = "cflush",
        /// PMF: ENTER_PSCI to EXIT_PSCI of a call that only returns.
        Latency = "latency",
        /// Caller: from the call to its return or to the entry point.
        Call = "call",
        /// Caller: from the due wake-up to the return or the entry point.
        Wake = "wake",
        /// Caller: from CPU_OFF to AFFINITY_INFO saying OFF, as the lead polls.
        TurnOff = "turnoff",
        /// Caller: from the lead's CPU_ON to the CPU's first instruction.
        TurnOn = "turnon",
        /// From the agreed start to the call.
        Lateness = "lateness",
    }
}

/// Number of [`Metric`]s.
pub const METRICS: usize = Metric::COUNT;

impl Outcome {
    /// Returns true if the CPU had a part in the round.
    #[must_use]
    pub fn took_part(&self) -> bool {
        !matches!(self.action, Action::None | Action::Help)
    }

    /// The path that the call took through the firmware, when it has one.
    #[must_use]
    pub fn path(&self) -> Option<Path> {
        match self.action {
            Action::None
            | Action::Help
            | Action::Off
            | Action::OnOff
            | Action::Repeat { .. }
            | Action::Expire => None,
            Action::Suspend {
                powerdown: false, ..
            } => Some(Path::Standby),
            Action::Suspend { .. } | Action::SystemSuspend => Some(Path::PowerDown),
            Action::ReadBack => Some(Path::OffOn {
                turned_on: self.turned_on,
            }),
            Action::Version => Some(Path::Call),
        }
    }

    /// Decides whether this outcome is a sample. With `pmf` its timestamps
    /// must be this call's own; without, the caller's view has to do.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn judge(&self, pmf: bool) -> Result<(), Rejection> {
        match self.end {
            End::Lost(loss) => {
                return Err(Rejection {
                    reason: Reason::Lost,
                    detail: Detail::Loss(loss),
                });
            }
            End::Pending => return Err(Rejection::plain(Reason::Pending)),
            End::NotRung => return Err(Rejection::plain(Reason::NotRung)),
            End::WrongContext => return Err(Rejection::plain(Reason::WrongContext)),
            // Asked, and sent away before it could.
            End::NotRun => return Err(Rejection::plain(Reason::Lost)),
            End::Returned | End::Resumed | End::WentOff | End::ReadBack => {}
        }
        let is_timed = matches!(self.end, End::Returned | End::Resumed)
            && !matches!(self.action, Action::Expire);
        if is_timed && (self.before == 0 || self.after == 0) {
            return Err(Rejection::plain(Reason::CounterErratum));
        }
        // PSCI_VERSION alone answers with a number.
        if self.code < 0 || self.code != 0 && !matches!(self.action, Action::Version) {
            return Err(Rejection {
                reason: Reason::Refused,
                detail: Detail::Firmware(psci::ReturnCode(self.code)),
            });
        }
        if let Some(powerdown) = self.action.sleeps() {
            let returned = powerdown && matches!(self.end, End::Returned);
            if returned && (pmf || self.after < self.due) {
                return Err(Rejection::plain(Reason::Abandoned));
            }
            if self.after < self.due {
                return Err(Rejection::plain(Reason::EarlyWake));
            }
        }
        if !pmf {
            return Ok(());
        }
        if let Some(error) = self.stamps_error {
            return Err(Rejection {
                reason: Reason::PmfRead,
                detail: Detail::Pmf(error),
            });
        }
        if let Some(path) = self.path() {
            self.stamps.check(path, self.before, self.after)?;
        }
        if self.action.sleeps().is_some() && self.stamps.at(Stamp::ExitHwLowPwr) < self.due {
            return Err(Rejection::plain(Reason::EarlyWake));
        }
        // The lead was active again before CPU_OFF was over.
        let is_off = matches!(self.action, Action::ReadBack) && self.due > self.start;
        if is_off && self.stamps.at(Stamp::EnterHwLowPwr) >= self.due {
            return Err(Rejection::plain(Reason::Overlap));
        }
        Ok(())
    }

    /// The PMF latencies of an outcome that [`Outcome::judge`] accepted with
    /// `pmf`; None where its timestamps do not hold.
    #[must_use]
    pub fn latencies(&self) -> Option<Latencies> {
        self.stamps
            .check(self.path()?, self.before, self.after)
            .ok()
    }

    /// One figure of an accepted outcome in ticks, where the action has it.
    #[must_use]
    pub fn metric(&self, metric: Metric, pmf: bool) -> Option<u64> {
        let latencies = if pmf { self.latencies() } else { None };
        let suspend = self.action.sleeps().is_some();
        let version = matches!(self.action, Action::Version);
        let read_back = matches!(self.action, Action::ReadBack);
        match metric {
            Metric::Powerdown if !version => latencies.map(|l| l.powerdown),
            Metric::Wakeup if !version => latencies.map(|l| l.wakeup),
            Metric::CacheFlush if self.path() != Some(Path::Standby) && !version => {
                latencies.map(|l| l.cache_flush)
            }
            Metric::Latency if version => latencies.map(|l| l.powerdown),
            Metric::Call if suspend || version => self.after.checked_sub(self.before),
            Metric::Wake if suspend => self.after.checked_sub(self.due),
            // With PMF the lead polls so seldom, to disturb no other CPU, that when
            // it saw the CPU off says little.
            Metric::TurnOff if read_back && !pmf => self.seen_off.checked_sub(self.before),
            Metric::TurnOn if read_back => self.entered.checked_sub(self.turned_on),
            Metric::Lateness if suspend || version => self.before.checked_sub(self.start),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Cause, Step};
    use crate::spec::psci;
    use std::string::ToString;

    fn good() -> Outcome {
        Outcome {
            action: Action::Suspend {
                power_state: 0x1_0002,
                powerdown: true,
            },
            end: End::Resumed,
            start: 95,
            before: 100,
            after: 350,
            due: 290,
            stamps: Stamps([110, 340, 160, 300, 120, 150]),
            ..Outcome::default()
        }
    }

    fn reason(outcome: Outcome, pmf: bool) -> Option<Reason> {
        outcome.judge(pmf).err().map(|r| r.reason)
    }

    #[test]
    fn a_good_suspend_counts_and_has_its_figures() {
        let outcome = good();
        assert_eq!(outcome.judge(true), Ok(()));
        for (metric, figure) in [
            (Metric::Powerdown, Some(50)),
            (Metric::Wakeup, Some(40)),
            (Metric::CacheFlush, Some(30)),
            (Metric::Latency, None),
            (Metric::Call, Some(250)),
            (Metric::Wake, Some(60)),
            (Metric::Lateness, Some(5)),
        ] {
            assert_eq!(outcome.metric(metric, true), figure);
        }
        assert_eq!(outcome.metric(Metric::Powerdown, false), None);
    }

    /// A change of a good suspend, if PMF is there, and the reason.
    type Rule = (fn(&mut Outcome), bool, Option<Reason>);

    #[test]
    fn each_rule_of_a_suspend() {
        const LOSS: Loss = Loss {
            step: Step::Finish,
            cause: Cause::Timeout,
        };
        const ABSENT: Option<ReadError> = Some(ReadError::NotImplemented);
        let rules: [Rule; 23] = [
            (|o| o.end = End::Returned, true, Some(Reason::Abandoned)),
            (|o| o.code = -2, true, Some(Reason::Refused)),
            (|o| o.code = 5, true, Some(Reason::Refused)),
            (|o| o.end = End::Pending, true, Some(Reason::Pending)),
            (|o| o.end = End::NotRung, true, Some(Reason::NotRung)),
            (|o| o.before = 0, true, Some(Reason::CounterErratum)),
            (|o| o.after = 0, true, Some(Reason::CounterErratum)),
            (|o| o.end = End::NotRun, true, Some(Reason::Lost)),
            (|o| o.end = End::Lost(LOSS), true, Some(Reason::Lost)),
            (
                |o| o.end = End::WrongContext,
                true,
                Some(Reason::WrongContext),
            ),
            (|o| o.due = 320, true, Some(Reason::EarlyWake)),
            (|o| o.due = 360, true, Some(Reason::EarlyWake)),
            (|o| o.stamps_error = ABSENT, true, Some(Reason::PmfRead)),
            (|o| o.stamps.0[4] = 50, true, Some(Reason::Stale)),
            (|o| o.stamps.0[1] = 351, true, Some(Reason::Future)),
            (|o| o.stamps.0[5] = 118, true, Some(Reason::Disorder)),
            (|o| o.stamps.0[2] = 310, true, Some(Reason::CounterStopped)),
            // A wake-up at the very instant is in time.
            (|o| o.due = o.stamps.at(Stamp::ExitHwLowPwr), true, None),
            (|o| o.due = o.after, false, None),
            (|o| (o.due, o.end) = (o.after, End::Returned), false, None),
            // Without PMF the wake-up decides.
            (
                |o| (o.stamps, o.end) = (Stamps::default(), End::Returned),
                false,
                None,
            ),
            (
                |o| (o.due, o.end) = (351, End::Returned),
                false,
                Some(Reason::Abandoned),
            ),
            (|o| o.due = 351, false, Some(Reason::EarlyWake)),
        ];
        for (edit, pmf, expected) in rules {
            let mut outcome = good();
            edit(&mut outcome);
            assert_eq!(reason(outcome, pmf), expected, "{outcome:?}");
        }
    }

    #[test]
    fn a_version_is_a_number_and_an_error_is_not() {
        for (code, expected) in [(0x1_0001, None), (-1, Some(Reason::Refused))] {
            let outcome = Outcome {
                action: Action::Version,
                end: End::Returned,
                code,
                before: 100,
                after: 150,
                ..Outcome::default()
            };
            assert_eq!(reason(outcome, false), expected);
        }
    }

    #[test]
    fn numbers_are_places() {
        for (i, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, i);
        }
        for (i, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, i);
        }
    }

    #[test]
    fn a_rejection_is_a_sentence() {
        use Cause::{Context, Exception, Firmware, Timeout};
        use Step::{Arrive, Begin, Finish, TurnOff, TurnOn};
        let loss = |step, cause| Detail::Loss(Loss { step, cause });
        let denied = psci::ReturnCode(-3);
        for (reason, detail, text) in [
            (Reason::Pending, Detail::None, "pending"),
            (Reason::CounterErratum, Detail::None, "counter-erratum"),
            (
                Reason::Refused,
                Detail::Firmware(denied),
                "refused: firmware returned DENIED",
            ),
            (
                Reason::Stale,
                Detail::Stamp(Stamp::EnterPsci),
                "stale: EnterPsci",
            ),
            (
                Reason::PmfRead,
                Detail::Pmf(ReadError::Code(5)),
                "pmf-read: code 5",
            ),
            (
                Reason::Lost,
                loss(Begin, Timeout),
                "lost: timed out waiting for rendezvous",
            ),
            (
                Reason::Lost,
                loss(TurnOn, Firmware(denied)),
                "lost: CPU_ON: firmware returned DENIED",
            ),
            (
                Reason::Lost,
                loss(Finish, Exception),
                "lost: took an exception before return from the call",
            ),
            (
                Reason::Lost,
                loss(Arrive, Context),
                "lost: entered with a wrong context ID before arrival after CPU_ON",
            ),
            (
                Reason::Lost,
                loss(TurnOff, Timeout),
                "lost: timed out waiting for AFFINITY_INFO to say OFF",
            ),
        ] {
            assert_eq!(Rejection { reason, detail }.to_string(), text);
        }
    }
}
