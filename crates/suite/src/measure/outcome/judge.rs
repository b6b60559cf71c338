//! Decides whether an outcome is a sample. Each kind of action has one function that lists its checks
//! in order; the first check that fails is the reason for the rejection.

use hardware::spec::counter_value::CounterValue;
use hardware::spec::pmf::Stamp;
use hardware::spec::psci;

use super::{ActionDetails, ActionEnd, InterruptTimes, Outcome, PowerCycle, Suspended};
use crate::measure::action::Action;
use crate::measure::capture_sequence::CaptureSequence;
use crate::measure::rejection::{Detail, Reason, Rejection};
use crate::measure::time_source::TimeSource;

impl Outcome {
    /// Decides whether this outcome is a sample.
    ///
    /// # Errors
    /// Returns an error with the reason why the outcome does not count. The timestamps are a reason
    /// only if `times` includes them.
    pub fn judge(&self, times: TimeSource) -> Result<(), Rejection> {
        self.check_end()?;
        match &self.details {
            ActionDetails::None => self.judge_call(times),
            ActionDetails::Suspend(suspended) => self.judge_suspend(suspended, times),
            ActionDetails::PowerCycle(cycle) => self.judge_power_cycle(cycle, times),
            ActionDetails::Interrupt(interrupt) => self.judge_interrupted_call(interrupt),
            ActionDetails::Loop { .. } => self.judge_loop(),
            ActionDetails::Window | ActionDetails::Stress(_) => Ok(()),
        }
    }

    fn judge_call(&self, times: TimeSource) -> Result<(), Rejection> {
        self.check_counter()?;
        self.check_code()?;
        self.check_lateness()?;
        self.check_stamps(times)
    }

    fn judge_suspend(&self, suspended: &Suspended, times: TimeSource) -> Result<(), Rejection> {
        self.check_counter()?;
        self.check_code()?;
        self.check_sleep(suspended, times)?;
        self.check_lateness()?;
        self.check_stamps(times)?;
        let is_early = is_before(self.stamp(Stamp::ExitHwLowPwr), suspended.due);
        if times.has_pmf() && is_early {
            return Err(Rejection::plain(Reason::EarlyWake));
        }
        Ok(())
    }

    fn judge_power_cycle(&self, cycle: &PowerCycle, times: TimeSource) -> Result<(), Rejection> {
        self.check_lateness()?;
        if self.action.is_timed_off() && cycle.entered.is_none() {
            return Err(Rejection::plain(Reason::CounterErratum));
        }
        self.check_stamps(times)?;
        // The CPU must be down before the lead, if it stayed idle, becomes active again.
        let lead_was_idle = cycle.lead_active_at > self.start;
        let is_too_late = self.stamp(Stamp::EnterHwLowPwr) >= cycle.lead_active_at;
        let is_sample = self.action == Action::ReadBack;
        if times.has_pmf() && is_sample && lead_was_idle && is_too_late {
            return Err(Rejection::plain(Reason::Overlap));
        }
        Ok(())
    }

    fn judge_interrupted_call(&self, interrupt: &InterruptTimes) -> Result<(), Rejection> {
        self.check_counter()?;
        self.check_lateness()?;
        if interrupt.entered.is_none() {
            return Err(Rejection::plain(Reason::CounterErratum));
        }
        Ok(())
    }

    fn judge_loop(&self) -> Result<(), Rejection> {
        self.check_counter()?;
        self.check_code()
    }

    /// Checks that the action ended as expected.
    fn check_end(&self) -> Result<(), Rejection> {
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

    /// Checks that the counter was read before and after the call.
    fn check_counter(&self) -> Result<(), Rejection> {
        if self.before.is_none() || self.returned_at.is_none() {
            return Err(Rejection::plain(Reason::CounterErratum));
        }
        Ok(())
    }

    /// Checks that the firmware did not return an error. Only PSCI_VERSION returns a number.
    fn check_code(&self) -> Result<(), Rejection> {
        let is_number = self.capture_sequence() == Some(CaptureSequence::Call);
        match self.code {
            None | Some(0) => Ok(()),
            Some(1..) if is_number => Ok(()),
            Some(code) => Err(Rejection {
                reason: Reason::Refused,
                detail: Detail::Firmware(psci::ReturnCode(code)),
            }),
        }
    }

    /// Checks that the CPU slept until its wake-up was due.
    fn check_sleep(&self, suspended: &Suspended, times: TimeSource) -> Result<(), Rejection> {
        let is_early = is_before(self.awake(), suspended.due);
        let is_powerdown = self.action.sleep_is_powerdown() == Some(true);
        let simply_returned = is_powerdown && self.end == ActionEnd::Returned;
        if simply_returned && (times.has_pmf() || is_early) {
            return Err(Rejection::plain(Reason::Abandoned));
        }
        if is_early {
            return Err(Rejection::plain(Reason::EarlyWake));
        }
        Ok(())
    }

    /// Checks that the CPU was back before the round's quiet time ended.
    fn check_lateness(&self) -> Result<(), Rejection> {
        if self.lateness() > 0 {
            return Err(Rejection::plain(Reason::LateReturn));
        }
        Ok(())
    }

    /// Checks that the timestamps, if they are used, could be read and belong to this call.
    fn check_stamps(&self, times: TimeSource) -> Result<(), Rejection> {
        if !times.has_pmf() {
            return Ok(());
        }
        let stamps = match &self.stamps {
            Ok(stamps) => stamps,
            Err(error) => {
                return Err(Rejection {
                    reason: Reason::PmfRead,
                    detail: Detail::Pmf(*error),
                });
            }
        };
        let Some(sequence) = self.capture_sequence() else {
            return Ok(());
        };
        match (self.before, self.returned_at) {
            (Some(before), Some(after)) => sequence.check(stamps, before, after),
            _ => Err(Rejection::plain(Reason::CounterErratum)),
        }
    }
}

/// Returns true if something happened before it was `due`. An unknown instant is too early.
fn is_before(instant: Option<CounterValue>, due: Option<CounterValue>) -> bool {
    due.is_some() && instant < due
}
