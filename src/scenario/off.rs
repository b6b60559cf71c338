//! CPU_OFF: every other CPU is turned on and off in turn, then the lead
//! suspends to the deepest level, then each of the others is turned on again
//! so that it can read what its CPU_OFF left.
//!
//! "Wakeup" is the warm boot of that second CPU_ON; the lead's row is a
//! CPU_SUSPEND, which comes last where another CPU has to stay awake for it. The
//! warm method turns each CPU on again right after its
//! CPU_OFF, and does not let the lead suspend in between.

use super::bench::{Bench, Stop};
use super::calibrate::{LEAST_US, LONGEST_US, UNKNOWN_US, not_supported};
use super::tally::came_too_soon;
use crate::measure::{Action, After, End, Machine, Outcome, Reason, Round, Who};
use crate::plan::Method;
use crate::spec::pmf::Stamp;

impl<M: Machine> Bench<'_, M> {
    /// `lead_action` is the lead's suspend, where there is a state for it.
    pub(crate) fn measure_off(&mut self, lead_action: Option<Action>) -> Result<(), Stop> {
        let lead = self.machine.facts().lead;
        self.skip_without_helper();
        let has_waker = self.rows[lead].skipped.is_none();
        let mut lead_action = lead_action.filter(|_| has_waker);
        let mut failure = None;
        if let Some(action) = lead_action
            && let Err(stop) = self.calibrate(Who::Only(lead), action)
        {
            // The lead has no row, and the scenario fails where the firmware
            // refused the state; the others' rows do not depend on it.
            lead_action = None;
            if self.nobody_can_suspend() {
                self.rows[lead].skipped = Some(not_supported(action));
            } else {
                failure = Some(stop);
            }
        }
        for (cpu, row) in self.rows.iter_mut().enumerate() {
            row.expected = cpu != lead || lead_action.is_some();
        }
        // One pass apart: it is cold for all but the lead, which has slept.
        self.trials += 1;
        self.off_sleep = if self.pmf { self.us(UNKNOWN_US) } else { 0 };
        self.pass(lead_action, Phase::Cold);
        self.calibrate_off();
        for _ in 0..self.plan.warmup {
            self.attempts += 1;
            self.pass(lead_action, Phase::WarmUp);
        }
        while !self.is_complete() && !self.retries_are_exhausted(self.attempts) {
            self.attempts += 1;
            self.pass(lead_action, Phase::Measure);
        }
        self.summarise();
        self.show_medians();
        match failure {
            Some(failure) => Err(Stop::Fail(failure)),
            None => Ok(()),
        }
    }

    /// Whether every CPU that can still give samples has given all.
    fn is_complete(&self) -> bool {
        self.rows.iter().all(|row| {
            !row.needs_samples()
                || row.valid >= self.plan.iterations
                || self.machine.is_lost(row.cpu as usize)
        })
    }

    /// All CPUs once.
    fn pass(&mut self, lead_action: Option<Action>, phase: Phase) {
        let lead = self.machine.facts().lead;
        let others = (0..self.rows.len()).filter(|cpu| *cpu != lead);
        match self.method {
            Method::Tftf => {
                // A helper goes off once more, over the timestamps of its
                // sample: the lead comes last then.
                let is_helped = self.waker(Who::Only(lead)).helper().is_some();
                for cpu in others.clone() {
                    self.turn_off(cpu);
                }
                if !is_helped {
                    self.lead_pass(lead, lead_action, phase);
                }
                for cpu in others {
                    self.read_back(cpu, phase);
                }
                if is_helped {
                    self.lead_pass(lead, lead_action, phase);
                }
            }
            Method::Warm => {
                for cpu in others {
                    self.turn_off(cpu);
                    self.read_back(cpu, phase);
                }
                self.lead_pass(lead, lead_action, phase);
            }
        }
    }

    /// Finds how long the lead leaves a CPU alone that goes off: twice the
    /// longest CPU_OFF of the pass before, by PMF. Without PMF it looks for OFF
    /// all the time, as the time until then is a figure.
    fn calibrate_off(&mut self) {
        let cold = || self.rows.iter().filter_map(|row| row.cold);
        let down = cold()
            .filter(|sample| sample.action == Action::ReadBack)
            .map(|sample| {
                sample
                    .stamps
                    .at(Stamp::EnterHwLowPwr)
                    .saturating_sub(sample.before)
            });
        if let Some(longest) = down.max().filter(|_| self.pmf) {
            self.off_sleep = (2 * longest).max(self.us(LEAST_US));
        }
    }

    /// A CPU's CPU_OFF; when it began and was over is kept for read_back.
    fn turn_off(&mut self, cpu: usize) {
        self.firsts[cpu] = if self.machine.is_lost(cpu) {
            Outcome::default()
        } else {
            let round = Round {
                sleep: self.off_sleep,
                quiet: 0,
                ..self.round(Who::Only(cpu), Action::Off)
            };
            self.machine.run(&round, self.outcomes);
            self.outcomes[cpu]
        };
    }

    /// The CPU is turned on again and reads its timestamps: a sample, if both
    /// halves are good.
    fn read_back(&mut self, cpu: usize, phase: Phase) {
        let first = self.firsts[cpu];
        let outcome = if matches!(first.end, End::WentOff) && !self.machine.is_lost(cpu) {
            Outcome {
                start: first.start,
                before: first.before,
                due: first.due,
                seen_off: first.seen_off,
                ..self.run_alone(cpu, Action::ReadBack)
            }
        } else if !first.took_part() {
            // Lost earlier: said then.
            return;
        } else {
            first
        };
        self.take(cpu, outcome, phase);
    }

    fn lead_pass(&mut self, lead: usize, action: Option<Action>, phase: Phase) {
        let Some(action) = action else { return };
        let round = Round {
            after: After::Off,
            ..self.round(Who::Only(lead), action)
        };
        self.machine.run(&round, self.outcomes);
        self.take(lead, self.outcomes[lead], phase);
    }

    /// Judges one CPU's part of a pass.
    fn take(&mut self, cpu: usize, outcome: Outcome, phase: Phase) {
        let verdict = outcome.judge(self.pmf);
        if let Err(rejection) = verdict {
            if came_too_soon(rejection) && cpu == self.machine.facts().lead {
                self.lengthen();
            } else if rejection.reason == Reason::Overlap {
                self.off_sleep = (self.off_sleep * 2).min(self.us(LONGEST_US));
            }
            self.rows[cpu].note_loss(rejection);
        }
        let row = &mut self.rows[cpu];
        match (phase, verdict) {
            (Phase::Cold, Ok(())) => row.keep_cold(&outcome),
            (Phase::Cold | Phase::WarmUp, _) => {}
            (Phase::Measure, _) if row.valid >= self.plan.iterations => {}
            (Phase::Measure, Ok(())) => self.keep(cpu, outcome),
            (Phase::Measure, Err(rejection)) => row.reject(rejection),
        }
    }
}

/// What a pass is for.
#[derive(Clone, Copy)]
enum Phase {
    /// The first: kept apart.
    Cold,
    /// Not kept.
    WarmUp,
    /// Kept where it counts.
    Measure,
}
