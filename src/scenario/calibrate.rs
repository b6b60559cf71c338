//! How long to sleep. A fixed time is wrong: with many CPUs the queue for the
//! firmware's locks alone may take longer, and a CPU whose timer has fired
//! does not go down at all. So a trial is run with a short sleep, doubled
//! until everyone was down before the first wake-up; a multiple of how long
//! that took is then slept.

use super::tally::came_too_soon;
use super::{Bench, Stop};
use crate::pmf::Stamp;
use crate::psci;
use crate::report::{Failure, Skip};
use crate::round::{Machine, Who};
use crate::sample::{Action, Detail, Reason, Rejection};

/// Sleep of the first trial, in microseconds.
const FIRST_US: u64 = 1_000;
/// The least sleep, in microseconds: what comes after the trial must fit in,
/// too, should it be slower.
const LEAST_US: u64 = 1_000;
/// Sleep where there is no PMF to tell how long the way down is, in
/// microseconds.
const UNKNOWN_US: u64 = 10_000;
/// The longest, in microseconds.
const LONGEST_US: u64 = 2_000_000;
/// Sleep as a multiple of the longest way down in the trial. All together
/// queue for locks, in another order each round; one alone does not.
const MARGIN_ALL: u64 = 4;
/// The same for one CPU alone.
const MARGIN_ALONE: u64 = 2;

/// What was wrong with a round, and on which CPU.
pub(super) type Wrong = (usize, Rejection);

impl<M: Machine> Bench<'_, M> {
    /// Finds `sleep` for `action` by trials of `who`, and keeps the first
    /// sample of each CPU as its cold one.
    pub(super) fn calibrate(&mut self, who: Who, action: Action) -> Result<(), Stop> {
        self.sleep = self.sleep.max(self.us(FIRST_US));
        let longest = self.us(LONGEST_US);
        loop {
            self.trials += 1;
            let round = self.round(who, action);
            self.machine.run(&round, self.outcomes);
            let verdict = self.judge_round();
            self.keep_cold();
            match verdict {
                Ok(()) => break,
                Err((cpu, wrong)) => {
                    self.stop_if_refused(action, wrong)?;
                    let cure = wrong.reason == Reason::Lost || came_too_soon(wrong);
                    if !cure || self.sleep >= longest {
                        return Err(Stop::Fail(Failure::NotCalibrated {
                            sleep: self.sleep,
                            last: wrong,
                            cpu: cpu as u16,
                        }));
                    }
                    // A CPU that was lost is left out of the next trial.
                    if wrong.reason != Reason::Lost {
                        self.lengthen();
                    }
                }
            }
        }
        let margin = match who {
            Who::All => MARGIN_ALL,
            Who::Only(_) => MARGIN_ALONE,
        };
        self.sleep = match self.longest_way_down() {
            // Nobody knows how long the way down was.
            None => self.sleep.max(self.us(UNKNOWN_US)),
            Some(down) => (down * margin).clamp(self.us(LEAST_US), longest),
        };
        Ok(())
    }

    /// Sleeps longer from now on: a wake-up came too soon.
    pub(super) fn lengthen(&mut self) {
        self.sleep = (self.sleep * 2).min(self.us(LONGEST_US));
    }

    /// Ends the scenario when the firmware does not know the state, or the
    /// function.
    fn stop_if_refused(&self, action: Action, wrong: Rejection) -> Result<(), Stop> {
        let (Action::Suspend { power_state, .. }, Detail::Firmware(error)) = (action, wrong.detail)
        else {
            return Ok(());
        };
        Err(match error {
            psci::Error::NotSupported => {
                Stop::Skip(Skip::NotSupported(psci::function::CPU_SUSPEND))
            }
            error => Stop::Fail(Failure::StateRefused { power_state, error }),
        })
    }

    /// The longest time from the start to ENTER_HW_LOW_PWR in the round in
    /// hand, where PMF tells.
    fn longest_way_down(&self) -> Option<u64> {
        if !self.pmf {
            return None;
        }
        let down = self
            .outcomes
            .iter()
            .filter(|o| matches!(o.action, Action::Suspend { .. }) && o.judge(true).is_ok())
            .map(|o| o.stamps.at(Stamp::EnterHwLowPwr).saturating_sub(o.start));
        down.max()
    }

    /// Keeps each CPU's first sample apart.
    pub(super) fn keep_cold(&mut self) {
        for (row, outcome) in self.rows.iter_mut().zip(self.outcomes.iter()) {
            let took_part = outcome.action != Action::None;
            if took_part && outcome.judge(self.pmf).is_ok() {
                row.keep_cold(outcome);
            }
        }
    }

    /// Judges the round in hand as one: every CPU that took part must have a
    /// sample, and nobody may wake before everybody is down.
    pub(super) fn judge_round(&mut self) -> Result<(), Wrong> {
        let mut wrong = None;
        for (cpu, outcome) in self.outcomes.iter().enumerate() {
            if outcome.action == Action::None {
                continue;
            }
            if let Err(rejection) = outcome.judge(self.pmf) {
                self.rows[cpu].note_loss(rejection);
                wrong.get_or_insert((cpu, rejection));
            }
        }
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        match self.late_to_bed() {
            Some(cpu) => Err((cpu, Rejection::plain(Reason::Overlap))),
            None => Ok(()),
        }
    }

    /// The first CPU that was not down when another one woke.
    pub(super) fn late_to_bed(&self) -> Option<usize> {
        let first_up = self.first_wake_up()?;
        self.outcomes
            .iter()
            .position(|o| is_suspend(o.action) && o.stamps.at(Stamp::EnterHwLowPwr) > first_up)
    }

    /// When the first CPU of the round in hand woke, where PMF tells.
    pub(super) fn first_wake_up(&self) -> Option<u64> {
        if !self.pmf {
            return None;
        }
        let wakes = self.outcomes.iter().filter(|o| is_suspend(o.action));
        wakes.map(|o| o.stamps.at(Stamp::ExitHwLowPwr)).min()
    }
}

fn is_suspend(action: Action) -> bool {
    matches!(action, Action::Suspend { .. })
}
