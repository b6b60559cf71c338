//! CPU_ON to the first instruction, and CPU_OFF to OFF.
//!
//! A round turns a CPU on, which goes off again at an instant that the lead says
//! when it sees the CPU ready. From then on the lead looks for OFF without pause,
//! so that the figure is late by one AFFINITY_INFO at most. All at once, the lead calls CPU_ON for one after another, and what is measured is
//! how long each takes from its own call; for OFF it could look at one of them
//! only.

use super::stage::Stage;
use crate::measure::{Action, End, Machine, Round, Summary, Who};
use crate::model::{Failure, How, Measure, Point, Status};

/// The CPU is the first of its cluster to come up.
const FIRST: &str = "first";
/// Another CPU of its cluster, the lead perhaps, is on.
const JOINS: &str = "joins";

/// From the lead's word to CPU_OFF, in microseconds: more than the nap in which
/// the CPU may be.
const LEAD_IN_US: u64 = 200;

/// The figures of a round, in the order in which they are kept.
const MEASURES: [Measure; 2] = [Measure::TurnOn, Measure::TurnOff];

pub(crate) fn measure<M: Machine>(stage: &mut Stage<'_, M>) -> Status {
    stage.asked = stage.plan.iterations;
    let cpus = stage.cpus.len();
    let lead = stage.machine.facts().lead;
    for who in (0..cpus).filter(|cpu| *cpu != lead).map(Who::Only) {
        if let Err(failure) = series(stage, lead, who) {
            return Status::Failed(failure);
        }
    }
    series(stage, lead, Who::All).map_or_else(Status::Failed, |()| Status::Passed)
}

fn series<M: Machine>(stage: &mut Stage<'_, M>, lead: usize, who: Who) -> Result<(), Failure> {
    let (cpus, asked) = (stage.cpus.len(), stage.asked as usize);
    let measures = match who {
        Who::Only(_) => &MEASURES[..],
        _ => &MEASURES[..1],
    };
    let lead_in = stage.machine.facts().ticks(LEAD_IN_US);
    let round = Round::new(who, Action::OnOff, lead_in);
    // Those that are on, from a round of something else, are to be off.
    let first = stage.plan.warmup.max(1);
    for place in 0..first as usize + asked {
        let kept = place.checked_sub(first as usize);
        match kept {
            None => stage.trials += 1,
            Some(_) => stage.attempts += 1,
        }
        stage.machine.run(&round, stage.outcomes);
        if let Some(lost) = stage.lost() {
            return Err(lost);
        }
        let Some(kept) = kept else { continue };
        for (cpu, outcome) in stage.outcomes.iter().enumerate() {
            let is_sample = outcome.end == End::WentOff && outcome.entered != 0;
            for (which, measure) in measures.iter().enumerate() {
                let figure = match measure {
                    Measure::TurnOn => outcome.entered.checked_sub(outcome.turned_on),
                    _ => outcome.seen_off.checked_sub(outcome.before),
                };
                let at = (cpu * MEASURES.len() + which) * asked + kept;
                if let Some(place) = stage.column.get_mut(at) {
                    *place = figure.filter(|_| is_sample).unwrap_or(NONE);
                }
            }
        }
    }
    for cpu in (0..cpus).filter(|cpu| *cpu != lead) {
        if who != Who::All && who != Who::Only(cpu) {
            continue;
        }
        for (which, measure) in measures.iter().enumerate() {
            let from = (cpu * MEASURES.len() + which) * asked;
            let column = stage.column.get_mut(from..from + asked);
            let figures = Summary::of(without_none(column.unwrap_or_default()));
            let valid = figures.n;
            stage.points.push(Point {
                cpu: cpu as u16,
                how: if measures.len() > 1 {
                    How::Alone
                } else {
                    How::All
                },
                variant: variant(stage, lead, who, cpu),
                x: None,
                measure: *measure,
                per: 1,
                figures,
                lost: u64::from(stage.asked - valid),
                ..Point::default()
            });
            if u64::from(valid) * 10 < u64::from(stage.asked) * 9 {
                return Err(Failure::TooFewSamples {
                    cpu: cpu as u16,
                    valid,
                    asked: stage.asked,
                });
            }
        }
    }
    Ok(())
}

/// Whether the CPU finds its cluster up: by the lead, or by a CPU that the lead
/// called before it in the same round.
fn variant<M: Machine>(stage: &Stage<'_, M>, lead: usize, who: Who, cpu: usize) -> &'static str {
    let cluster = |index: usize| stage.cpus.get(index).map(|cpu| cpu.cluster);
    let is_up = |other: usize| other == lead || who == Who::All && other < cpu;
    let mates =
        (0..stage.cpus.len()).filter(|other| *other != cpu && cluster(*other) == cluster(cpu));
    if mates.into_iter().any(is_up) {
        JOINS
    } else {
        FIRST
    }
}

/// In the place of a figure that is none.
pub(crate) const NONE: u64 = u64::MAX;

/// The figures of `column` that are some, moved to its front.
pub(crate) fn without_none(column: &mut [u64]) -> &mut [u64] {
    let mut kept = 0;
    for place in 0..column.len() {
        if column[place] != NONE {
            column[kept] = column[place];
            kept += 1;
        }
    }
    column.get_mut(..kept).unwrap_or_default()
}
