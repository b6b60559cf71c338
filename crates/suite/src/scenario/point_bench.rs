//! A scenario outside TFTF's suite under way, whose results are points.

use alloc::vec::Vec;

use run::measure::{Machine, Outcome, REASONS, Round, Summary, Who};
use run::model::{Conditions, Failure, How, Point, Scenario, ScenarioKey, Status};
use run::plan::ScenarioId;

use super::bench::{Setting, first_lost, too_few};
use super::rows::by_reason;

/// The most measures of one CPU in one step.
pub(crate) const MEASURES: usize = 2;

pub(crate) struct PointBench<'m> {
    pub(crate) machine: &'m mut dyn Machine,
    pub(crate) setting: Setting<'m>,
    /// One for each CPU: the round in hand.
    pub(crate) outcomes: Vec<Outcome>,
    /// Samples by CPU, of two measures.
    pub(crate) columns: Vec<[Vec<u64>; MEASURES]>,
    pub(crate) conditions: Conditions,
    /// Attempts that do not count, by [`run::measure::Reason`].
    pub(crate) rejected: [u32; REASONS],
    pub(crate) points: Vec<Point>,
}

/// Returns the number of CPUs of a round of `who` as points name it.
pub(crate) fn how(who: Who) -> How {
    match who {
        Who::Only(_) => How::Alone,
        Who::All | Who::First(_) => How::All,
    }
}

impl<'m> PointBench<'m> {
    /// Returns a bench with memory for the scenario's points and `samples` of each CPU.
    pub(crate) fn new(
        machine: &'m mut dyn Machine,
        setting: Setting<'m>,
        id: ScenarioId,
        samples: u32,
    ) -> Self {
        let cpus = setting.cpus.len();
        let points = MEASURES * setting.plan.cells(id, cpus, 0);
        let column = || Vec::with_capacity(samples as usize);
        let columns = (0..cpus).map(|_| [column(), column()]).collect();
        Self {
            machine,
            setting,
            outcomes: alloc::vec![Outcome::default(); cpus],
            columns,
            conditions: Conditions::default(),
            rejected: [0; REASONS],
            points: Vec::with_capacity(points),
        }
    }

    /// Runs a round; an error is that a CPU is lost.
    pub(crate) fn run(&mut self, round: &Round) -> Result<(), Failure> {
        self.machine.run(round, &mut self.outcomes);
        first_lost(self.machine, self.setting.cpus.len()).map_or(Ok(()), Err)
    }

    /// Adds a point of one of its CPU's columns, of samples out of `taken`; an error is
    /// that too few of them are valid.
    pub(crate) fn add_point(
        &mut self,
        point: Point,
        column: usize,
        taken: u32,
    ) -> Result<(), Failure> {
        let figures = Summary::of(&mut self.columns[usize::from(point.cpu)][column]);
        let (cpu, valid) = (point.cpu, figures.n);
        self.points.push(Point {
            figures,
            lost: u64::from(taken - valid),
            ..point
        });
        too_few(cpu, valid, taken).map_or(Ok(()), Err)
    }

    pub(crate) fn finish(self, key: ScenarioKey, status: Status) -> Scenario {
        Scenario {
            status,
            conditions: Some(self.conditions),
            rejected: by_reason(&self.rejected),
            points: self.points,
            ..Scenario::new(key)
        }
    }
}
