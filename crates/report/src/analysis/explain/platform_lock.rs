//! A queue at level 0. The platform must have a lock there, because generic PSCI code takes none.

use run::measure::Metric::{Powerdown, Wakeup};
use run::model::Kind;
use run::plan::ScenarioId::{CpuSuspendParallel, CpuSuspendSerial};

use super::explanation::Explanation;
use super::suite_tables::{SuiteTables, even_steps};
use super::uniform_exits;

/// A platform lock.
pub(crate) const PLATFORM_LOCK: Kind = Kind::new("platform-lock");

pub(super) fn explain(tables: &SuiteTables<'_>) -> Option<Explanation> {
    let parallel = tables.column(CpuSuspendParallel, Powerdown)?;
    let serial = tables.column(CpuSuspendSerial, Powerdown)?;
    let exits = tables.column(CpuSuspendParallel, Wakeup)?;
    let steps = even_steps(parallel.figures().map(|it| it.ticks), 1)?;
    let is_queue = parallel.most() >= serial.most().saturating_mul(2);
    if !is_queue || !uniform_exits::are_uniform(tables, &exits) {
        return None;
    }
    let steps = tables.logged.clock().range(steps);
    let together = tables.range(parallel.figures());
    let alone = tables.range(serial.figures());
    let out = tables.range(exits.figures());
    let all = parallel.figures().chain(serial.figures());
    Some(Explanation {
        kind: PLATFORM_LOCK,
        sentence: format!(
            "At level 0, PSCI's generic code takes no lock, but parallel entries queue: they take \
             {together}, in steps of {steps}. Serial entries take {alone}, and exits are alike \
             ({out}). The lock is the platform's, such as the only channel to a power controller, \
             held until the CPU is off."
        ),
        figures: all.chain(exits.figures()).copied().collect(),
    })
}
