//! What becomes of the outcomes: scenarios keep or reject them, and record what they show.

use hardware::board::CpuIndex;

use super::{AttemptUse, Bench};
use crate::bench::cell_state::{COLUMNS, CellState};
use crate::measure::{Metric, Outcome, Rejection, TimeSource};

impl Bench<'_> {
    /// Judges one CPU's attempt and, depending on `attempt_use`, keeps it or counts its rejection.
    /// Returns the rejection, if any.
    pub(crate) fn judge_attempt(
        &mut self,
        cpu: CpuIndex,
        outcome: &Outcome,
        attempt_use: AttemptUse,
    ) -> Option<Rejection> {
        let verdict = outcome.judge(self.time_source);
        let state = &mut self.cells[cpu.index()];
        let is_counted =
            attempt_use == AttemptUse::Measure && state.valid() < self.setting.plan.iterations;
        match verdict {
            Ok(()) if is_counted => state.keep(outcome),
            Ok(()) if attempt_use == AttemptUse::Cold => state.keep_cold(outcome),
            Ok(()) => {}
            Err(rejection) if is_counted => state.reject(rejection),
            Err(rejection) => state.note_loss(rejection),
        }
        verdict.err()
    }

    /// Keeps the outcome of a CPU_OFF until the CPU's timestamps are read.
    pub(crate) fn keep_off_outcome(&mut self, cpu: CpuIndex, outcome: Outcome) {
        self.memory.off_outcomes[cpu.index()] = outcome;
    }

    /// Keeps the current round's samples as cold samples for CPUs that have none.
    pub(crate) fn keep_cold_samples(&mut self) {
        for (state, outcome) in self.cells.iter_mut().zip(&self.memory.outcomes) {
            if outcome.took_part() && outcome.judge(self.time_source).is_ok() {
                state.keep_cold(outcome);
            }
        }
    }

    /// Keeps each CPU's outcome from a round. A lost CPU does not take part in later rounds, so
    /// samples with the same index always come from the same round.
    pub(crate) fn keep_round(&mut self) {
        for (state, outcome) in self.cells.iter_mut().zip(&self.memory.outcomes) {
            if outcome.took_part() {
                state.keep(outcome);
            }
        }
    }

    /// Discards the rounds kept so far. A CPU that took part in these rounds has been lost, so they
    /// must not be mixed with rounds without that CPU.
    pub(crate) fn discard_rounds(&mut self) {
        self.cells.iter_mut().for_each(CellState::discard_kept);
    }

    /// Keeps two figures of each outcome in a round, in columns, or counts the outcome's rejection.
    /// Returns the number of rejections.
    pub(crate) fn keep_figures(
        &mut self,
        metrics: [Metric; COLUMNS],
        judge: impl Fn(&Outcome) -> Result<(), Rejection>,
    ) -> u32 {
        let mut rejections = 0;
        for (state, outcome) in self.cells.iter_mut().zip(&self.memory.outcomes) {
            if !outcome.took_part() {
                continue;
            }
            match judge(outcome) {
                Ok(()) => state.keep_figures(
                    metrics.map(|metric| outcome.metric(metric, TimeSource::Counter)),
                ),
                Err(rejection) => {
                    state.reject(rejection);
                    rejections += 1;
                }
            }
        }
        rejections
    }

    /// Copies the machine's list of lost CPUs, because a CPU may be lost without an outcome while
    /// it powers off for another CPU's turn. Discards the states that were reached earlier, because
    /// they may no longer be current.
    pub(crate) fn note_losses(&mut self) {
        for state in &mut self.cells {
            state.note_lost(self.machine.lost(state.cpu()));
        }
        if self.cells.iter().any(|state| state.lost().is_some()) {
            self.cells.iter_mut().for_each(CellState::forget_reached);
        }
    }
}
