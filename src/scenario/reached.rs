//! Which state is reached, in a round that gives no sample: asking for the
//! statistics warms the firmware's caches.

use super::bench::Bench;
use crate::board::Cpu;
use crate::measure::{Action, Machine, Round, Who};
use crate::spec::stat::{Ladder, Reached};

/// Rounds until one is good.
const TRIES: u32 = 3;

impl<M: Machine> Bench<'_, M> {
    /// Has `who` suspend once more, and keeps what PSCI_STAT says of it.
    ///
    /// Nothing is said where a CPU was lost: nobody knows whether it is on.
    pub(crate) fn see_what_is_reached(&mut self, who: Who, action: Action, ladder: &Ladder) {
        let nothing_to_see = ladder.is_empty() || !self.machine.facts().stat;
        for _ in 0..TRIES {
            let all_there = (0..self.rows.len()).all(|cpu| !self.machine.is_lost(cpu));
            if nothing_to_see || !all_there {
                return;
            }
            self.trials += 1;
            let round = Round {
                ladder: *ladder,
                ..self.round(who, action)
            };
            self.machine.run(&round, self.outcomes);
            if self.judge_round().is_ok() {
                return self.keep_reached(who, ladder);
            }
        }
    }

    fn keep_reached(&mut self, who: Who, ladder: &Ladder) {
        let facts = self.machine.facts();
        let (clock, Some(lead)) = (facts.clock(), self.cpus.get(facts.lead)) else {
            return;
        };
        let awake = match who {
            Who::Only(cpu) if cpu != facts.lead => Some(lead),
            _ => self
                .waker(who)
                .helper()
                .and_then(|helper| self.cpus.get(helper)),
        };
        let parts = self.cpus.iter().zip(self.outcomes.iter());
        for ((cpu, outcome), row) in parts.zip(self.rows.iter_mut()) {
            let Some(due) = ladder.due(limit(cpu, awake)) else {
                continue;
            };
            if !outcome.took_part() {
                continue;
            }
            let away = outcome.after.saturating_sub(outcome.before);
            // TF-A divides by whole megahertz: 62 where there are 62.5.
            let most_us = clock
                .is_known()
                .then(|| away / (clock.hz / 1_000_000).max(1));
            row.reached = Some(Reached::read(ladder, &outcome.rise, due, most_us));
        }
    }
}

/// The highest power level that can go down with `cpu`: None where all CPUs go
/// down or are off. A CPU that is awake keeps up its own cluster, which is taken
/// to be level 1, and all that is above.
fn limit(cpu: &Cpu, awake: Option<&Cpu>) -> Option<u8> {
    awake.map(|awake| u8::from(cpu.cluster != awake.cluster))
}
