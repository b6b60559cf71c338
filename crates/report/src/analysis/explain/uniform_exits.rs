//! Level 0 exits that take about the same time: no CPU waits for a lock on its way up.

use itertools::Itertools as _;
use run::measure::Metric::Wakeup;
use run::model::Kind;
use run::plan::ScenarioId::CpuSuspendParallel;

use super::explanation::Explanation;
use super::suite_tables::{Column, SuiteTables, are_alike};

/// Exits without a queue.
const UNIFORM_EXITS: Kind = Kind::new("uniform-exits");

/// The minimum number of CPUs that could form a queue.
const CPUS_MIN: usize = 3;

pub(super) fn explain(tables: &SuiteTables<'_>) -> Option<Explanation> {
    let exits = tables.column(CpuSuspendParallel, Wakeup)?;
    if tables.cpus().count() < CPUS_MIN || !are_uniform(tables, &exits) {
        return None;
    }
    let range = tables.range(exits.figures());
    Some(Explanation {
        kind: UNIFORM_EXITS,
        sentence: format!(
            "Parallel exits at level 0 are alike in each cluster ({range}): no CPU waits for a \
             lock on its way up."
        ),
        figures: exits.figures().copied().collect(),
    })
}

/// Returns true if the CPUs in each cluster have similar exits.
pub(super) fn are_uniform(tables: &SuiteTables<'_>, exits: &Column) -> bool {
    let clusters = exits.figures().map(|it| (tables.cluster(it.cpu), it.ticks));
    let clusters = clusters.into_group_map();
    clusters.into_values().all(are_alike)
}
