//! Exits from level 0 that take about the same time, which shows that no CPU waits for a lock on
//! its way up.

use run::measure::Metric::Wakeup;
use run::model::Kind;
use run::plan::ScenarioId::{CpuSuspendParallel, CpuSuspendSerial};

use super::explanation::Explanation;
use super::suite_tables::{Column, Figure, SuiteTables, exceeds};

/// Exits without a queue.
const UNIFORM_EXITS: Kind = Kind::new("uniform-exits");

/// The minimum number of CPUs that can form a queue.
const CPUS_MIN: usize = 3;

pub(super) fn explain(tables: &SuiteTables<'_>) -> Option<Explanation> {
    let exits = UniformExits::of(tables)?;
    if tables.cpus().count() < CPUS_MIN {
        return None;
    }
    let parallel = tables.range(exits.parallel.figures());
    let serial = tables.range(exits.serial.figures());
    Some(Explanation {
        kind: UNIFORM_EXITS,
        sentence: format!(
            "At level 0, parallel exits take no longer than serial ones ({parallel} compared with \
             {serial}): no CPU waits for a lock on its way up."
        ),
        figures: exits.figures(),
    })
}

/// Parallel exits at level 0, each no longer than the same CPU's serial exit.
pub(super) struct UniformExits {
    /// The parallel exits.
    pub parallel: Column,
    serial: Column,
}

impl UniformExits {
    /// Returns the exits; None if a table is missing or if a parallel exit takes longer than the
    /// serial one.
    pub(super) fn of(tables: &SuiteTables<'_>) -> Option<Self> {
        let parallel = tables.column(CpuSuspendParallel, Wakeup)?;
        let serial = tables.column(CpuSuspendSerial, Wakeup)?;
        let is_longer = |cpu| exceeds(parallel.of(cpu), serial.of(cpu), 4);
        let has_longer = tables.cpus().any(is_longer);
        (!has_longer).then_some(Self { parallel, serial })
    }

    /// Returns all figures.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let all = self.parallel.figures().chain(self.serial.figures());
        all.copied().collect()
    }
}
