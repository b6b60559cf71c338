//! CPU_ON to the first instruction, and CPU_OFF to OFF.
//!
//! A round turns a CPU on, which powers off again at an instant that the lead
//! publishes when the CPU is ready. From then on the lead calls AFFINITY_INFO without
//! pause, so that the figure is late by one such call at most. In a round of all, the
//! lead calls CPU_ON for one CPU after another; each figure is the time from the
//! CPU's own CPU_ON, and there is none for OFF, which the lead could follow on one CPU
//! only.

use alloc::vec::Vec;

use super::point_bench::{PointBench, how};
use crate::measure::{Action, End, Machine, Outcome, Round, Who};
use crate::model::{Failure, Measure, Point, Variant};

/// From the publication of the start to CPU_OFF, in microseconds: more than the nap
/// in which the CPU may be.
const LEAD_IN_US: u64 = 200;

/// Samples of one CPU in ticks.
struct Samples {
    turn_on: Vec<u64>,
    turn_off: Vec<u64>,
}

pub(crate) fn measure<M: Machine>(bench: &mut PointBench<'_, M>) -> Result<(), Failure> {
    let asked = bench.setting.plan.iterations;
    bench.conditions.asked = asked;
    let cpus = bench.setting.cpus.len();
    let lead = bench.machine.facts().lead;
    let mut samples = Vec::with_capacity(cpus);
    samples.extend((0..cpus).map(|_| Samples {
        turn_on: Vec::with_capacity(asked as usize),
        turn_off: Vec::with_capacity(asked as usize),
    }));
    let alone = (0..cpus).filter(|cpu| *cpu != lead).map(Who::Only);
    for who in alone.chain([Who::All]) {
        take_samples(bench, who, &mut samples)?;
        add_points(bench, lead, who, &mut samples)?;
    }
    Ok(())
}

fn take_samples<M: Machine>(
    bench: &mut PointBench<'_, M>,
    who: Who,
    samples: &mut [Samples],
) -> Result<(), Failure> {
    let lead_in = bench.machine.facts().ticks(LEAD_IN_US);
    let round = Round::new(who, Action::OnOff, lead_in);
    for cpu in samples.iter_mut() {
        cpu.turn_on.clear();
        cpu.turn_off.clear();
    }
    // The first round powers off CPUs that are still on.
    for _ in 0..bench.setting.plan.warmup.max(1) {
        bench.conditions.trials += 1;
        bench.run(&round)?;
    }
    for _ in 0..bench.setting.plan.iterations {
        bench.conditions.attempts += 1;
        bench.run(&round)?;
        let is_sample = |it: &Outcome| it.end == End::WentOff && it.entered != 0;
        for (outcome, cpu) in bench.outcomes.iter().zip(samples.iter_mut()) {
            if is_sample(outcome) {
                cpu.turn_on
                    .extend(outcome.entered.checked_sub(outcome.turned_on));
                cpu.turn_off
                    .extend(outcome.seen_off.checked_sub(outcome.before));
            }
        }
    }
    Ok(())
}

fn add_points<M: Machine>(
    bench: &mut PointBench<'_, M>,
    lead: usize,
    who: Who,
    samples: &mut [Samples],
) -> Result<(), Failure> {
    let asked = bench.conditions.asked;
    for (cpu, samples) in samples.iter_mut().enumerate() {
        if cpu == lead || who != Who::All && who != Who::Only(cpu) {
            continue;
        }
        let variant = variant(bench, lead, who, cpu);
        let point = |measure| Point {
            how: how(who),
            ..Point::new(cpu as u16, variant, measure)
        };
        bench.add_point(point(Measure::TurnOn), &mut samples.turn_on, asked)?;
        if who != Who::All {
            bench.add_point(point(Measure::TurnOff), &mut samples.turn_off, asked)?;
        }
    }
    Ok(())
}

/// Returns [`Variant::Joins`] if the CPU's cluster is up already: by the lead, or by a
/// CPU that the lead turned on before it in the same round.
fn variant<M: Machine>(bench: &PointBench<'_, M>, lead: usize, who: Who, cpu: usize) -> Variant {
    let cpus = bench.setting.cpus;
    let is_up = |other: usize| other == lead || who == Who::All && other < cpu;
    let mut mates =
        (0..cpus.len()).filter(|other| *other != cpu && cpus[*other].cluster == cpus[cpu].cluster);
    match mates.any(is_up) {
        true => Variant::Joins,
        false => Variant::First,
    }
}
