//! All CPUs at once: suspend, and PSCI_VERSION.
//!
//! A round counts as a whole or not at all: one CPU that did not go down
//! changes what the others had to wait for.

use super::bench::{Bench, Stop};
use super::calibrate::{cannot, is_late};
use crate::measure::{Action, Machine, Reason, Rejection};
use crate::spec::stat::Ladder;

impl<M: Machine> Bench<'_, M> {
    pub(crate) fn measure_parallel(&mut self, action: Action, ladder: &Ladder) -> Result<(), Stop> {
        self.expect_all();
        if action.sleeps().is_some() {
            if let Err(failure) = self.calibrate(self.all, action) {
                return Err(if self.nobody_can_suspend() {
                    cannot(action)
                } else {
                    Stop::Fail(failure)
                });
            }
            self.see_what_is_reached(self.all, action, ladder);
        } else {
            // The first round is cold, and a trial all the same.
            self.trials = 1;
            self.run(self.all, action);
            let _ = self.judge_round();
            self.keep_cold();
        }
        let mut kept = 0;
        while kept < self.plan.iterations && !self.retries_are_exhausted(self.attempts) {
            let warming_up = self.attempts < self.plan.warmup;
            let lost = self.count_lost();
            self.attempts += 1;
            self.run(self.all, action);
            match self.judge_round() {
                Ok(()) if warming_up => {}
                Ok(()) => {
                    self.keep_round(kept as usize);
                    kept += 1;
                }
                Err((_, wrong)) => {
                    if !warming_up {
                        self.reject_round();
                    }
                    if self.came_too_soon(wrong) {
                        self.lengthen();
                    }
                    if self.count_lost() > lost {
                        kept = 0;
                        self.begin_anew();
                    }
                }
            }
        }
        self.summarise();
        self.show_round(kept as usize);
        Ok(())
    }

    fn count_lost(&self) -> usize {
        let cpus = 0..self.rows.len();
        cpus.filter(|cpu| self.machine.is_lost(*cpu)).count()
    }

    /// Gives up the rounds that were kept: those to come are without a CPU
    /// that was in them, and the two are not to be mixed.
    fn begin_anew(&mut self) {
        for row in self.rows.iter_mut() {
            row.rejected[Reason::Companion as usize] += row.valid;
            row.valid = 0;
        }
    }

    /// Keeps every CPU's part of a round, so that rounds stay whole. One that
    /// is lost has none, nor will it have in the rounds to come: its place
    /// stays empty, and it has no sample more.
    fn keep_round(&mut self, round: usize) {
        let cpus = self.outcomes.len();
        let kept = self.kept.chunks_mut(cpus).nth(round).unwrap_or_default();
        if kept.len() == cpus {
            kept.copy_from_slice(self.outcomes);
        }
        for (row, outcome) in self.rows.iter_mut().zip(self.outcomes.iter()) {
            row.valid += u32::from(outcome.took_part());
        }
    }

    /// Counts every CPU's part under its reason.
    fn reject_round(&mut self) {
        let first_up = self.first_wake_up();
        let late = |o| first_up.is_some_and(|up| is_late(o, up));
        for (row, outcome) in self.rows.iter_mut().zip(self.outcomes.iter()) {
            if !outcome.took_part() {
                continue;
            }
            row.reject(match outcome.judge(self.pmf) {
                Err(rejection) => rejection,
                Ok(()) if late(outcome) => Rejection::plain(Reason::Overlap),
                Ok(()) => Rejection::plain(Reason::Companion),
            });
        }
    }
}
