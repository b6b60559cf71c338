//! Room to measure in: how much a plan needs, known before the run.

use super::stage::Room;
use super::suite::PLACEMENTS;
use super::{micro, sweep};
use crate::measure::Outcome;
use crate::model::{Point, Row, Spread};
use crate::plan::{Plan, ScenarioId};

/// Room to measure in; sized by [`Needs`].
pub struct Workspace<'w> {
    /// One for each CPU: the round in hand.
    pub outcomes: &'w mut [Outcome],
    /// One for each CPU: the first half of a round of two.
    pub firsts: &'w mut [Outcome],
    /// For each iteration, one for each CPU: what counts. For each test anew
    /// where the plan asks for all samples.
    pub kept: &'w mut [Outcome],
    /// For each iteration, or each CPU: one column of figures. More where a
    /// scenario outside the suite keeps more of them.
    pub column: &'w mut [u64],
    /// For each test of the suite, one for each CPU.
    pub rows: &'w mut [Row],
    /// For each other test, as many as it has.
    pub points: &'w mut [Point],
    /// The same.
    pub histograms: &'w mut [Spread],
}

/// How many elements each part of a [`Workspace`] has to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Of `outcomes` and of `firsts`.
    pub outcomes: usize,
    /// Of `kept`.
    pub kept: usize,
    /// Of `column`.
    pub column: usize,
    /// Of `rows`.
    pub rows: usize,
    /// Tallies, of which each CPU has one or none.
    pub tallies: usize,
    /// Bytes for each CPU to write to, whole pages; no part of the workspace,
    /// but the CPUs' own.
    pub buffer: u64,
    /// Of `points`.
    pub points: usize,
    /// Of `histograms`.
    pub histograms: usize,
}

impl Needs {
    /// What `plan` needs on a board with so many CPUs; None when the numbers
    /// do not fit a machine word.
    #[must_use]
    pub fn of(plan: &Plan, cpus: usize) -> Option<Self> {
        let iterations = plan.iterations as usize;
        // A parallel suspend is measured once for each placement of a helper.
        let suspends = [
            ScenarioId::SuspendDeepParallel,
            ScenarioId::CpuSuspendParallel,
        ];
        let twice = suspends.iter().filter(|id| plan.scenarios.contains(**id));
        let tests = plan.scenarios.suite().len() + twice.count() * (PLACEMENTS - 1);
        let tests = tests * plan.methods.iter().count();
        // All sweeps have the same rows, and keep nothing.
        let sweeps = usize::from(plan.scenarios.iter().any(ScenarioId::is_sweep));
        let mut own = Room::default();
        for scenario in plan.scenarios.iter().filter(|id| !id.is_suite()) {
            let room = room(scenario, plan, cpus)?;
            own.points = own.points.checked_add(room.points)?;
            own.histograms = own.histograms.checked_add(room.histograms)?;
            own.column = own.column.max(room.column);
            own.tallies |= room.tallies;
            own.buffer = own.buffer.max(room.buffer);
        }
        Some(Self {
            outcomes: cpus,
            kept: iterations.checked_mul(cpus)?.checked_mul(if plan.samples {
                tests + sweeps
            } else {
                1
            })?,
            column: iterations.max(cpus).max(own.column),
            rows: (tests + sweeps).checked_mul(cpus)?,
            tallies: if own.tallies { cpus } else { 0 },
            buffer: own.buffer,
            points: own.points,
            histograms: own.histograms,
        })
    }

    /// The bytes of all parts of the workspace together.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        let outcomes = self.outcomes.checked_mul(2)?.checked_add(self.kept)?;
        outcomes
            .checked_mul(size_of::<Outcome>())?
            .checked_add(self.column.checked_mul(size_of::<u64>())?)?
            .checked_add(self.rows.checked_mul(size_of::<Row>())?)?
            .checked_add(self.points.checked_mul(size_of::<Point>())?)?
            .checked_add(self.histograms.checked_mul(size_of::<Spread>())?)
    }
}

/// What a scenario outside the suite needs.
fn room(scenario: ScenarioId, plan: &Plan, cpus: usize) -> Option<Room> {
    match scenario {
        id if id.is_micro() => micro::room(id, plan, cpus),
        ScenarioId::TimerLatency => super::timer_latency::room(plan, cpus),
        id if id.is_sweep() => sweep::room(id, plan, cpus),
        _ => Some(Room::default()),
    }
}
