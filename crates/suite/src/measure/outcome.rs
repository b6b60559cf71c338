//! The outcome of one CPU's action in a round. The machine code fills an [`Outcome`] with raw counter
//! values and return codes; [`Outcome::judge`] decides whether it counts.

use hardware::spec::counter_value::{CounterValue, ticks_between};
use hardware::spec::pmf::{ReadError, Stamp, Stamps};
use hardware::spec::psci;
use hardware::spec::stat::Rise;

use super::action::{Action, SingleCall};
use super::capture_sequence::CaptureSequence;
use super::instants::{Instant, Instants};
use super::metric::Metric;
use super::rejection::{Detail, Loss, Reason, Rejection};

/// How a CPU's action ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActionEnd {
    /// The CPU did not take part in the round, or did not perform its action.
    #[default]
    NotRun,
    /// The call returned to its caller.
    Returned,
    /// The CPU came back through the entry point given to CPU_SUSPEND.
    Resumed,
    /// The CPU called CPU_OFF, after which AFFINITY_INFO returned OFF for it.
    WentOff,
    /// The CPU was turned on by CPU_ON and read its timestamps.
    ReadBack,
    /// An interrupt stayed pending, so the call was not made.
    Pending,
    /// Like [`ActionEnd::Resumed`], but with a context ID other than the one given.
    WrongContext,
    /// The CPU does not support the loop's operation, or abandoned the loop.
    GaveUp,
    /// The SGI, timer frame or timer did not wake the CPU; something else did, much later.
    WokenByFallback,
    /// The CPU was lost.
    Lost(Loss),
}

impl ActionEnd {
    /// Returns true if the CPU came back from its call, either to its caller or through the entry
    /// point.
    pub const fn has_returned(self) -> bool {
        matches!(self, Self::Returned | Self::Resumed)
    }
}

/// A CPU's raw record of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The action.
    pub action: Action,
    /// How it ended.
    pub end: ActionEnd,
    /// The low word of X0 after the call, or after the last call of a loop; None if no call
    /// returned.
    pub code: Option<i32>,
    /// A loop's cycles from PMCCNTR_EL0; None if that register does not count.
    pub cycles: Option<u64>,
    /// The agreed instant at which the round's CPUs make their calls.
    pub start: Option<CounterValue>,
    /// The counter just before the call. Before a power-down, it is read earlier, because registers
    /// are lost. None if an erratum corrupted the read.
    pub before: Option<CounterValue>,
    /// The counter just after the call, or at the entry point. None if an erratum corrupted the
    /// read.
    pub returned_at: Option<CounterValue>,
    /// When the wake-up was due, or just before the SGI was sent.
    pub due: Option<CounterValue>,
    /// When the lead called CPU_ON for this CPU.
    pub turned_on: Option<CounterValue>,
    /// When this CPU executed its first instruction after CPU_ON, or the first instruction of its
    /// interrupt handler.
    pub entered: Option<CounterValue>,
    /// When AFFINITY_INFO first returned OFF to the lead.
    pub seen_off: Option<CounterValue>,
    /// The end of the round's quiet time. CPUs that are awake do nothing until then.
    pub quiet_until: Option<CounterValue>,
    /// The CPU's timestamps, read before its next PSCI call.
    pub stamps: Stamps,
    /// Why the timestamps could not be read; None if they were read or PMF is not used.
    pub stamps_error: Option<ReadError>,
    /// The increase in the PSCI_STAT values, if the round requested them.
    pub rise: Rise,
    /// What a suspend did to the CPU's context, if the round checks it.
    pub kept: Option<KeptContext>,
}

/// Whether each part of a CPU's context that later wake-ups depend on is the same after a suspend as
/// before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptContext {
    /// The timer that wakes the CPU: CVAL, and ENABLE and IMASK in CTL.
    pub timer: bool,
    /// The enable bits and priorities of the CPU's SGIs and PPIs.
    pub private_interrupts: bool,
    /// VBAR_ELx. None if the CPU came back through its entry point, where the payload sets
    /// VBAR_ELx.
    pub vectors: Option<bool>,
}

impl Outcome {
    /// Returns true if the CPU took part in the round.
    pub fn took_part(&self) -> bool {
        !matches!(self.action, Action::None | Action::Help)
    }

    /// Returns the timestamps that the call captures; None if it captures none.
    pub fn capture_sequence(&self) -> Option<CaptureSequence> {
        let turned_on = self.turned_on;
        match self.action {
            Action::ReadBack => Some(CaptureSequence::OffOn { turned_on }),
            Action::Version
            | Action::ColdCall {
                call: SingleCall::Version,
                ..
            } => Some(CaptureSequence::Call),
            // PMF does not time its own calls.
            Action::ColdCall {
                call: SingleCall::ReadStamp,
                ..
            } => None,
            action => match action.sleep_is_powerdown() {
                Some(true) => Some(CaptureSequence::PowerDown),
                Some(false) => Some(CaptureSequence::Standby),
                None => None,
            },
        }
    }

    /// Decides whether this outcome is a sample. If `pmf` is true, also checks its timestamps.
    pub fn judge(&self, pmf: bool) -> Result<(), Rejection> {
        self.judge_end()?;
        let is_timed = self.end.has_returned() && self.action != Action::Expire;
        if is_timed && (self.before.is_none() || self.returned_at.is_none()) {
            return Err(Rejection::plain(Reason::CounterErratum));
        }
        // Only PSCI_VERSION returns a number.
        let is_number = self.capture_sequence() == Some(CaptureSequence::Call);
        if let Some(code) = self.code
            && (code < 0 || code > 0 && !is_number)
        {
            return Err(Rejection {
                reason: Reason::Refused,
                detail: Detail::Firmware(psci::ReturnCode(code)),
            });
        }
        self.judge_wake_up(pmf)?;
        if self.lateness() > 0 {
            return Err(Rejection::plain(Reason::LateReturn));
        }
        let needs_entry = self.action.is_timed_off() || self.action == Action::Interrupt;
        if needs_entry && self.entered.is_none() {
            return Err(Rejection::plain(Reason::CounterErratum));
        }
        if pmf { self.judge_stamps() } else { Ok(()) }
    }

    /// Checks that the action ended as expected.
    fn judge_end(&self) -> Result<(), Rejection> {
        let reason = match self.end {
            ActionEnd::Returned | ActionEnd::Resumed | ActionEnd::WentOff | ActionEnd::ReadBack => {
                return Ok(());
            }
            ActionEnd::Lost(loss) => {
                return Err(Rejection {
                    reason: Reason::Lost,
                    detail: Detail::Loss(loss),
                });
            }
            ActionEnd::Pending => Reason::Pending,
            ActionEnd::WokenByFallback => Reason::WokenByFallback,
            ActionEnd::WrongContext => Reason::WrongContext,
            ActionEnd::GaveUp => Reason::WrongAnswer,
            // The CPU should have taken part, but the lead gave up on it first.
            ActionEnd::NotRun => Reason::Lost,
        };
        Err(Rejection::plain(reason))
    }

    /// Checks that a suspended CPU slept until its wake-up was due.
    fn judge_wake_up(&self, pmf: bool) -> Result<(), Rejection> {
        let Some(powerdown) = self.action.sleep_is_powerdown() else {
            return Ok(());
        };
        let simply_returned = powerdown && self.end == ActionEnd::Returned;
        let is_early = match self.due {
            Some(due) => self.awake() < Some(due),
            None => false,
        };
        if simply_returned && (pmf || is_early) {
            return Err(Rejection::plain(Reason::Abandoned));
        }
        if is_early {
            return Err(Rejection::plain(Reason::EarlyWake));
        }
        Ok(())
    }

    /// Checks that the timestamps belong to this call and that none of them is too early.
    fn judge_stamps(&self) -> Result<(), Rejection> {
        if let Some(error) = self.stamps_error {
            return Err(Rejection {
                reason: Reason::PmfRead,
                detail: Detail::Pmf(error),
            });
        }
        if let Some(sequence) = self.capture_sequence() {
            let (Some(before), Some(after)) = (self.before, self.returned_at) else {
                return Err(Rejection::plain(Reason::CounterErratum));
            };
            sequence.check(&self.stamps, before, after)?;
        }
        let Some(due) = self.due else {
            return Ok(());
        };
        if self.action.sleeps() && self.stamps.at(Stamp::ExitHwLowPwr) < Some(due) {
            return Err(Rejection::plain(Reason::EarlyWake));
        }
        // The lead was active again before CPU_OFF was complete.
        let turned_off = self.action == Action::ReadBack && Some(due) > self.start;
        if turned_off && self.stamps.at(Stamp::EnterHwLowPwr) >= Some(due) {
            return Err(Rejection::plain(Reason::Overlap));
        }
        Ok(())
    }

    /// Returns the ticks from the end of the round's quiet time to the return.
    pub fn lateness(&self) -> u64 {
        ticks_between(self.quiet_until, self.first_instruction_at())
    }

    /// Returns the counter at the CPU's first instruction after the call.
    fn first_instruction_at(&self) -> Option<CounterValue> {
        if self.action.measures_arrival() {
            self.entered
        } else {
            self.returned_at
        }
    }

    /// Returns the first instant after a suspend at which the CPU is known to be awake.
    fn awake(&self) -> Option<CounterValue> {
        if self.action.is_cold_call() {
            self.before
        } else {
            self.returned_at
        }
    }

    /// Returns true if the timestamps belong to this call.
    pub fn has_own_stamps(&self) -> bool {
        match (self.capture_sequence(), self.before, self.returned_at) {
            (Some(sequence), Some(before), Some(after)) => {
                sequence.check(&self.stamps, before, after).is_ok()
            }
            _ => false,
        }
    }

    /// Returns the sample's instants. If `pmf` is true, they include the timestamps that the call
    /// writes.
    pub fn instants(&self, pmf: bool) -> Instants {
        // The agreed start time belongs to the round that turned the CPU off, not to the read-back.
        let base = self.start.or(self.before).map_or(0, CounterValue::number);
        let mut instants = Instants::new(base);
        let sequence = if pmf { self.capture_sequence() } else { None };
        // The CPU_ON before a suspend and the power-off after it are not part of the sample.
        let measures_arrival = self.action.measures_arrival();
        let is_entered = measures_arrival || self.action == Action::Interrupt;
        for instant in Instant::ALL {
            let counter = match instant {
                Instant::Before => self.before,
                Instant::Stamp(stamp)
                    if sequence.is_some_and(|sequence| sequence.captures(stamp)) =>
                {
                    self.stamps.at(stamp)
                }
                Instant::Due => self.due,
                Instant::After => self.returned_at,
                Instant::TurnedOn if measures_arrival => self.turned_on,
                Instant::Entered if is_entered => self.entered,
                Instant::SeenOff if measures_arrival => self.seen_off,
                Instant::Stamp(_) | Instant::TurnedOn | Instant::Entered | Instant::SeenOff => None,
            };
            if let Some(counter) = counter {
                instants.set(instant, counter.number().wrapping_sub(base).cast_signed());
            }
        }
        instants
    }

    /// Returns a figure from an accepted outcome, in ticks or in the metric's unit; None if its
    /// action does not have that metric.
    pub fn metric(&self, metric: Metric, pmf: bool) -> Option<u64> {
        let is_cold_call = self.action.is_cold_call();
        let is_suspend = self.action.sleeps() && !is_cold_call;
        let simply_returns = self.capture_sequence() == Some(CaptureSequence::Call);
        let is_read_back = self.action == Action::ReadBack;
        let is_timed_off = self.action.is_timed_off();
        let is_interrupted = self.action == Action::Interrupt;
        let has_metric = match metric {
            Metric::Powerdown | Metric::Wakeup | Metric::CacheFlush => is_suspend || is_read_back,
            Metric::Latency => simply_returns,
            Metric::Call => is_suspend || simply_returns || is_cold_call || is_interrupted,
            Metric::Wake => is_suspend,
            // With PMF, the lead polls rarely, to avoid interfering with other CPUs. The instant at
            // which the lead reads OFF is therefore imprecise.
            Metric::TurnOff => is_timed_off || is_read_back && !pmf,
            Metric::TurnOn => is_timed_off || is_read_back,
            Metric::Time => matches!(self.action, Action::Repeat { .. }),
            Metric::Cycles => return self.cycles,
            Metric::Entry => is_interrupted,
            Metric::Handler
            | Metric::Masked
            | Metric::LastOffset
            | Metric::Count
            | Metric::Residency => false,
        };
        if has_metric {
            self.instants(pmf).metric(metric)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests;
