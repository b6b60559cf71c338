//! One CPU after another, every other one off: suspend.
//!
//! The lead comes last, when it is alone. By the method of TF-A's tests each
//! sample follows a CPU_ON, and all CPUs take their turn before the first has
//! its second; the warm method keeps one CPU on until it has all its samples.

use super::bench::{Bench, Stop};
use super::calibrate::cannot;
use super::tally::came_too_soon;
use crate::measure::{Action, Machine, Who};
use crate::model::Skip;
use crate::plan::Method;
use crate::spec::stat::Ladder;

impl<M: Machine> Bench<'_, M> {
    pub(crate) fn measure_serial(&mut self, action: Action, ladder: &Ladder) -> Result<(), Stop> {
        self.expect_all();
        self.skip_without_helper();
        let cpus = self.rows.len();
        // The slowest CPU's sleep will do for all.
        let mut longest = 0;
        let mut failure = None;
        let mut can_suspend = false;
        for turn in 0..cpus {
            let cpu = self.in_turn(turn);
            if self.machine.is_lost(cpu) || !self.rows[cpu].needs_samples() {
                continue;
            }
            self.sleep = 0;
            let calibrated = self.calibrate(Who::Only(cpu), action);
            can_suspend |= !self.nobody_can_suspend();
            match calibrated {
                Ok(()) => {
                    longest = longest.max(self.sleep);
                    self.see_what_is_reached(Who::Only(cpu), action, ladder);
                }
                // The others are measured all the same.
                Err(wrong) => {
                    self.rows[cpu].given_up = true;
                    failure.get_or_insert(Stop::Fail(wrong));
                }
            }
        }
        if failure.is_some() && !can_suspend {
            return Err(cannot(action));
        }
        self.sleep = longest;
        self.longest_sleep = self.longest_sleep.max(longest);
        let repeats = self.plan.warmup + self.plan.iterations;
        match self.method {
            Method::Tftf => {
                for repeat in 0..repeats {
                    for turn in 0..cpus {
                        self.sample_alone(self.in_turn(turn), action, repeat);
                    }
                }
            }
            Method::Warm => {
                for turn in 0..cpus {
                    for repeat in 0..repeats {
                        self.sample_alone(self.in_turn(turn), action, repeat);
                    }
                }
            }
        }
        self.summarise();
        self.show_medians();
        failure.map_or(Ok(()), Err)
    }

    /// Skips the lead's row where no CPU is left to wake it.
    pub(crate) fn skip_without_helper(&mut self) {
        let lead = self.machine.facts().lead;
        let helper = self.waker(Who::Only(lead)).helper();
        if helper.is_some_and(|helper| helper >= self.rows.len()) {
            self.rows[lead].skipped = Some(Skip::NoHelper);
        }
    }

    /// The CPU whose turn it is: in the board's order, the lead last.
    pub(crate) fn in_turn(&self, turn: usize) -> usize {
        let lead = self.machine.facts().lead;
        match turn + 1 {
            n if n == self.rows.len() => lead,
            _ if turn < lead => turn,
            next => next,
        }
    }

    /// One repeat of one CPU: attempts until there is a sample, or no
    /// attempt is left to it.
    fn sample_alone(&mut self, cpu: usize, action: Action, repeat: u32) {
        let warming_up = repeat < self.plan.warmup;
        while !self.machine.is_lost(cpu) {
            let row = &self.rows[cpu];
            if row.given_up || !row.needs_samples() {
                return;
            }
            let made = self.plan.warmup.min(repeat) + row.valid + row.rejected_total();
            if self.retries_are_exhausted(made) {
                return;
            }
            self.attempts += 1;
            let outcome = self.run_alone(cpu, action);
            match outcome.judge(self.pmf) {
                Ok(()) if warming_up => return,
                Ok(()) => {
                    self.keep(cpu, outcome);
                    return;
                }
                Err(rejection) => {
                    if came_too_soon(rejection) {
                        self.lengthen();
                    }
                    if warming_up {
                        self.rows[cpu].note_loss(rejection);
                        return;
                    }
                    self.rows[cpu].reject(rejection);
                }
            }
        }
    }
}
