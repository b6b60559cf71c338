//! The state that is reached, in a round that gives no sample: reading PSCI_STAT
//! warms the firmware's caches.

use super::bench::Bench;
use super::calibrate::judge_round;
use crate::measure::{Action, Machine, Round, Who};
use crate::model::Cpu;
use crate::spec::stat::{Ladder, Reached};

/// Rounds until one is good.
const TRIES: u32 = 3;

/// Suspends `who` once more, and keeps what PSCI_STAT returns. Nothing is read after
/// a CPU was lost: it may be on.
pub(crate) fn read_reached<M: Machine>(
    bench: &mut Bench<'_, M>,
    who: Who,
    action: Action,
    ladder: &Ladder,
) {
    let has_statistics = !ladder.is_empty() && bench.machine.facts().stat;
    for _ in 0..TRIES {
        let any_lost = (0..bench.rows.len()).any(|cpu| bench.machine.is_lost(cpu));
        if !has_statistics || any_lost {
            return;
        }
        bench.trials += 1;
        let round = Round {
            ladder: *ladder,
            ..bench.round(who, action)
        };
        bench.machine.run(&round, &mut bench.outcomes);
        if judge_round(bench).is_ok() {
            return keep_reached(bench, who, ladder);
        }
    }
}

fn keep_reached<M: Machine>(bench: &mut Bench<'_, M>, who: Who, ladder: &Ladder) {
    let cpus = bench.setting.cpus;
    let facts = bench.machine.facts();
    let (clock, Some(lead)) = (facts.clock(), cpus.get(facts.lead)) else {
        return;
    };
    let awake = match who {
        Who::Only(cpu) if cpu != facts.lead => Some(lead),
        _ => {
            let helper = bench.waker(who).helper();
            helper.and_then(|helper| cpus.get(helper))
        }
    };
    for ((cpu, outcome), state) in cpus.iter().zip(&bench.outcomes).zip(&mut bench.rows) {
        let Some(due) = ladder.due(limit(cpu, awake)) else {
            continue;
        };
        if !outcome.took_part() {
            continue;
        }
        let away = outcome.after.saturating_sub(outcome.before);
        // TF-A divides by whole megahertz: 62 for 62.5.
        let most_us = clock
            .is_known()
            .then(|| away / (clock.hz / 1_000_000).max(1));
        state.row.reached = Some(Reached::read(ladder, &outcome.rise, due, most_us));
    }
}

/// Returns the highest power level that can go down with `cpu`; None if all CPUs go
/// down or are off. An awake CPU keeps up its own cluster, which is taken to be level
/// 1, and all levels above.
fn limit(cpu: &Cpu, awake: Option<&Cpu>) -> Option<u8> {
    awake.map(|awake| u8::from(cpu.cluster != awake.cluster))
}
