//! How long to sleep. A fixed time is wrong: with many CPUs the queue for the
//! firmware's locks alone may take longer, and a CPU whose timer has fired
//! does not go down at all. So a trial is run with a short sleep, doubled
//! until everyone was down before the first wake-up; a multiple of how long
//! that took is then slept.

use smccc::psci;

use super::bench::{Bench, Stop};
use crate::measure::{Action, Detail, Machine, Outcome, Reason, Rejection, Who};
use crate::model::{Failure, Skip};
use crate::spec::pmf::Stamp;

/// Sleep of the first trial, in microseconds.
const FIRST_US: u64 = 1_000;
/// The least sleep, in microseconds: what comes after the trial must fit in,
/// too, should it be slower.
pub(crate) const LEAST_US: u64 = 1_000;
/// Sleep where there is no PMF to tell how long the way down is, in
/// microseconds.
pub(crate) const UNKNOWN_US: u64 = 10_000;
/// The longest, in microseconds.
pub(crate) const LONGEST_US: u64 = 2_000_000;
/// Sleep as a multiple of the longest way down in the trial. All together
/// queue for locks, in another order each round; one alone does not.
const MARGIN_ALL: u64 = 4;
/// The same for one CPU alone.
const MARGIN_ALONE: u64 = 2;
/// The least and the longest time that CPUs without work stay quiet after a
/// wake-up, in microseconds.
const QUIET_LEAST_US: u64 = 200;
const QUIET_MOST_US: u64 = 50_000;
/// Trials that may go wrong in a way that a longer sleep does not cure.
const TRIES: u32 = 3;
/// How far the sleep may grow afterwards, so that a CPU that never goes down
/// does not make each of its attempts last for seconds.
const GROWTH: u64 = 8;

/// What was wrong with a round, and on which CPU.
pub(crate) type Wrong = (usize, Rejection);

impl<M: Machine> Bench<'_, M> {
    /// Finds `sleep` for `action` by trials of `who`, and keeps the first
    /// sample of each CPU as its cold one.
    pub(crate) fn calibrate(&mut self, who: Who, action: Action) -> Result<(), Failure> {
        self.sleep = self.sleep.max(self.us(FIRST_US));
        let longest = self.us(LONGEST_US);
        self.longest_sleep = longest;
        let mut tries = TRIES;
        loop {
            self.trials += 1;
            self.run(who, action);
            let verdict = self.judge_round();
            self.keep_cold();
            match verdict {
                Ok(()) => break,
                Err((cpu, wrong)) => {
                    let too_soon = self.came_too_soon(wrong);
                    if !too_soon {
                        refused(action, cpu, wrong)?;
                    }
                    let hope = if too_soon {
                        let longer = self.sleep < longest;
                        self.lengthen();
                        longer
                    } else if matches!(wrong.detail, Detail::Loss(_)) {
                        // It is left out of the next trial.
                        true
                    } else {
                        // Of a chain that was broken, a longer sleep may help.
                        self.lengthen();
                        tries -= 1;
                        tries > 0
                    };
                    if !hope {
                        return Err(Failure::NotCalibrated {
                            sleep: self.sleep,
                            last: wrong,
                            cpu: cpu as u16,
                        });
                    }
                }
            }
        }
        let margin = match who {
            Who::All | Who::First(_) => MARGIN_ALL,
            Who::Only(_) => MARGIN_ALONE,
        };
        self.sleep = match self.longest_way_down() {
            // Nobody knows how long the way down was.
            None => self.sleep.max(self.us(UNKNOWN_US)),
            Some(down) => (down * margin).max(self.us(LEAST_US)).min(longest),
        };
        self.longest_sleep = longest.min(self.sleep.saturating_mul(GROWTH));
        self.quiet = self.quiet_after_wake_up();
        Ok(())
    }

    /// Sleeps longer from now on: a wake-up came too soon.
    pub(crate) fn lengthen(&mut self) {
        self.sleep = (self.sleep * 2).min(self.longest_sleep);
    }

    /// Whether the firmware does not implement CPU_SUSPEND for any CPU that
    /// took part in the round in hand.
    pub(crate) fn nobody_can_suspend(&self) -> bool {
        let parts = || self.outcomes.iter().filter(|o| is_suspend(o.action));
        let cannot = |o: &Outcome| o.code == psci::error::NOT_SUPPORTED;
        parts().next().is_some() && parts().all(cannot)
    }

    /// A multiple of the time from the first due wake-up to the last return in
    /// the round in hand.
    fn quiet_after_wake_up(&self) -> u64 {
        let parts = || self.outcomes.iter().filter(|o| is_suspend(o.action));
        let first = parts().map(|o| o.due).min().unwrap_or(0);
        let last = parts().map(|o| o.after).max().unwrap_or(0);
        let (least, most) = (self.us(QUIET_LEAST_US), self.us(QUIET_MOST_US));
        (last.saturating_sub(first) * MARGIN_ALONE).clamp(least, most)
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
            .filter(|o| is_suspend(o.action) && o.judge(true).is_ok())
            .map(|o| o.stamps.at(Stamp::EnterHwLowPwr).saturating_sub(o.start));
        down.max()
    }

    /// Keeps each CPU's first sample apart.
    pub(crate) fn keep_cold(&mut self) {
        for (row, outcome) in self.rows.iter_mut().zip(self.outcomes.iter()) {
            if outcome.took_part() && outcome.judge(self.pmf).is_ok() {
                row.keep_cold(outcome);
            }
        }
    }

    /// Judges the round in hand as one: every CPU that took part must have a
    /// sample, and nobody may wake before everybody is down.
    pub(crate) fn judge_round(&mut self) -> Result<(), Wrong> {
        let mut wrong = None;
        for (row, outcome) in self.rows.iter_mut().zip(self.outcomes.iter()) {
            if !outcome.took_part() {
                continue;
            }
            if let Err(rejection) = outcome.judge(self.pmf) {
                row.note_loss(rejection);
                wrong.get_or_insert((row.cpu.into(), rejection));
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
    pub(crate) fn late_to_bed(&self) -> Option<usize> {
        let first_up = self.first_wake_up()?;
        self.outcomes.iter().position(|o| is_late(o, first_up))
    }

    /// When the first CPU of the round in hand woke, or was sent an SGI to, of
    /// those whose timestamps tell.
    pub(crate) fn first_wake_up(&self) -> Option<u64> {
        if !self.pmf {
            return None;
        }
        let wakes = self.outcomes.iter();
        let wakes = wakes.filter(|o| is_suspend(o.action) && o.judge(true).is_ok());
        // By SGI, all must be down before the first is sent.
        wakes
            .map(|o| match self.timers_stop {
                true => o.due,
                false => o.stamps.at(Stamp::ExitHwLowPwr),
            })
            .min()
    }
}

/// Skips a scenario: the firmware does not implement the function of `action`.
pub(crate) fn cannot(action: Action) -> Stop {
    Stop::Skip(not_supported(action))
}

/// The reason that the firmware does not implement the function of `action`.
pub(crate) fn not_supported(action: Action) -> Skip {
    Skip::NotSupported(match action {
        Action::SystemSuspend => psci::PSCI_SYSTEM_SUSPEND_64,
        _ => psci::PSCI_CPU_SUSPEND_64,
    })
}

/// Ends the trials of a CPU to which the firmware refuses the state.
fn refused(action: Action, cpu: usize, wrong: Rejection) -> Result<(), Failure> {
    match (action, wrong.detail) {
        (Action::Suspend { power_state, .. }, Detail::Firmware(error)) => {
            Err(Failure::StateRefused {
                power_state,
                error,
                cpu: cpu as u16,
            })
        }
        _ => Ok(()),
    }
}

/// Whether the CPU was not down yet at the first wake-up. In one tick with it
/// is too late: which came first nobody knows.
pub(crate) fn is_late(outcome: &Outcome, first_up: u64) -> bool {
    is_suspend(outcome.action) && outcome.stamps.at(Stamp::EnterHwLowPwr) >= first_up
}

fn is_suspend(action: Action) -> bool {
    action.sleeps().is_some()
}
