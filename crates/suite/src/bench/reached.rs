//! Determines which state was reached. Reading the state requires a round without samples, because
//! the PSCI_STAT calls warm the firmware's caches. The round counts as a warm-up round.

use crate::measure::{ActionDetails, Metric, Outcome, Participants, Round, TimeSource};
use hardware::board::CpuIndex;
use hardware::spec::stat::{Ladder, Reached};
use hardware::spec::ticks::Clock;

use super::bench::Bench;
use super::calibrate::{judge_round, lengthen_wait};

/// The maximum number of attempts to read the state.
const READS_MAX: u32 = 3;

/// Suspends `participants` once more and keeps the PSCI_STAT values. Reads nothing once a CPU has
/// been lost, because that CPU may be on. Returns the number of warm-up rounds left.
pub(crate) fn read_reached(bench: &mut Bench<'_>, participants: Participants) -> u32 {
    let warmup = bench.plan().warmup;
    let ladder = bench.step().ladder;
    let has_statistics = !ladder.is_empty() && bench.facts().stat;
    for _ in 0..READS_MAX {
        if !has_statistics || bench.first_lost().is_some() {
            return warmup;
        }
        bench.count_trial();
        bench.run_round(&Round {
            ladder,
            ..bench.round(participants, bench.step().action)
        });
        match judge_round(bench) {
            Ok(()) => {
                keep_reached(bench, participants, &ladder);
                return warmup.saturating_sub(1);
            }
            Err((_, rejection)) => lengthen_wait(bench, rejection),
        }
    }
    warmup
}

/// Keeps the state that each CPU reached in the current round.
fn keep_reached(bench: &mut Bench<'_>, participants: Participants, ladder: &Ladder) {
    let (cpus, lead) = (bench.setting().cpus, bench.lead());
    let clock = bench.facts().clock();
    let helper = bench.waker(participants).helper();
    let stay_on = bench.facts().no_cpu_off.is_some();
    let is_awake = |index: CpuIndex| match participants {
        Participants::Only(cpu) if index != cpu && (index == lead || stay_on) => true,
        _ => helper == Some(index),
    };
    let is_any_awake = CpuIndex::all(cpus.len()).any(is_awake);
    let has_awake_cpu = |cluster: u16| {
        let mut by_cpu = CpuIndex::all(cpus.len()).zip(cpus);
        by_cpu.any(|(index, cpu)| is_awake(index) && cpu.cluster == cluster)
    };
    for (index, cpu) in CpuIndex::all(cpus.len()).zip(cpus) {
        // An awake CPU keeps its own cluster (assumed to be level 1) and all levels above it
        // powered up.
        let limit = if has_awake_cpu(cpu.cluster) {
            Some(0)
        } else if is_any_awake {
            Some(1)
        } else {
            None
        };
        let outcome = bench.outcome(index);
        if outcome.took_part()
            && let Some(reached) = reached_in(&outcome, ladder, limit, clock)
        {
            bench.cell_mut(index).note_reached(reached);
        }
    }
}

/// Returns the state that a CPU reached in a suspend, if nothing above the `limit` power level
/// could power down. Returns None if the levels are unknown.
pub(crate) fn reached_in(
    outcome: &Outcome,
    ladder: &Ladder,
    limit: Option<u8>,
    clock: Clock,
) -> Option<Reached> {
    let ActionDetails::Suspend(suspended) = outcome.details else {
        return None;
    };
    let due = ladder.due(limit)?;
    let call = outcome.metric(Metric::Call, TimeSource::Counter);
    // TF-A divides by a whole number of megahertz, for example by 62 for 62.5 MHz.
    let megahertz = (clock.hz / 1_000_000).max(1);
    let most_us = clock.is_known().then(|| call.unwrap_or(0) / megahertz);
    Some(Reached::read(ladder, &suspended.rise, due, most_us))
}
