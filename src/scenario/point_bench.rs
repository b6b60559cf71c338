//! A scenario outside TFTF's suite under way, whose results are points.

use alloc::vec::Vec;

use super::bench::{Setting, first_lost};
use crate::measure::{Machine, Outcome, Round, Summary, Who};
use crate::model::{Conditions, Failure, How, Point, Scenario, ScenarioKey, Status};

/// The machine, and the points so far.
pub(crate) struct PointBench<'m, M> {
    pub(crate) machine: &'m mut M,
    pub(crate) setting: Setting<'m>,
    /// One for each CPU: the round in hand.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) conditions: Conditions,
    pub(crate) points: Vec<Point>,
}

/// Returns the number of CPUs of a round of `who` as points name it.
pub(crate) fn how(who: Who) -> How {
    match who {
        Who::Only(_) => How::Alone,
        Who::All | Who::First(_) => How::All,
    }
}

impl<'m, M: Machine> PointBench<'m, M> {
    /// Returns a bench with memory for so many points.
    pub(crate) fn new(machine: &'m mut M, setting: Setting<'m>, points: usize) -> Self {
        Self {
            machine,
            setting,
            outcomes: alloc::vec![Outcome::default(); setting.cpus.len()],
            conditions: Conditions::default(),
            points: Vec::with_capacity(points),
        }
    }

    /// Runs a round; an error is that a CPU is lost.
    pub(crate) fn run(&mut self, round: &Round) -> Result<(), Failure> {
        self.machine.run(round, &mut self.outcomes);
        let lost = first_lost(self.machine, self.setting.cpus.len());
        lost.map_or(Ok(()), Err)
    }

    /// Adds the point of some samples out of `taken`; an error is that fewer than 90 %
    /// of them are valid.
    pub(crate) fn add_point(
        &mut self,
        point: Point,
        samples: &mut [u64],
        taken: u32,
    ) -> Result<(), Failure> {
        let figures = Summary::of(samples);
        let (cpu, valid) = (point.cpu, figures.n);
        self.points.push(Point {
            figures,
            lost: u64::from(taken - valid),
            ..point
        });
        if u64::from(valid) * 10 < u64::from(taken) * 9 {
            return Err(Failure::TooFewSamples {
                cpu,
                valid,
                asked: taken,
            });
        }
        Ok(())
    }

    /// Returns the results.
    pub(crate) fn finish(self, key: ScenarioKey, status: Status) -> Scenario {
        Scenario {
            status,
            conditions: Some(self.conditions),
            points: self.points,
            ..Scenario::new(key)
        }
    }
}
