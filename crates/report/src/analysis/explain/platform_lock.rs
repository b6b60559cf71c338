//! Explains why suspends to level 0 queue: the platform must take a lock, because the generic PSCI
//! code takes none at that level.

use run::measure::Metric::Powerdown;
use run::model::Kind;
use run::plan::ScenarioId::{CpuSuspendParallel, CpuSuspendSerial};

use super::explanation::Explanation;
use super::suite_tables::{SuiteTables, even_steps, exceeds};
use super::uniform_exits::UniformExits;

/// A platform lock.
pub(crate) const PLATFORM_LOCK: Kind = Kind::new("platform-lock");

pub(super) fn explain(tables: &SuiteTables<'_>) -> Option<Explanation> {
    let parallel = tables.column(CpuSuspendParallel, Powerdown)?;
    let serial = tables.column(CpuSuspendSerial, Powerdown)?;
    let exits = UniformExits::of(tables)?;
    let steps = even_steps(parallel.figures().map(|it| it.ticks), 1)?;
    if !exceeds(parallel.most(), serial.most(), 1) {
        return None;
    }
    // If a step is shorter than a serial entry, the lock is released before the CPU that holds it
    // is off.
    let until = match steps.0 >= serial.most() {
        true => ", and holds it until the CPU is off",
        false => "",
    };
    let steps = tables.logged.clock().range(steps);
    let together = tables.range(parallel.figures());
    let alone = tables.range(serial.figures());
    let out = tables.range(exits.parallel.figures());
    let all = parallel.figures().chain(serial.figures()).copied();
    Some(Explanation {
        kind: PLATFORM_LOCK,
        sentence: format!(
            "At level 0, PSCI's generic code takes no lock, but parallel entries queue: they take \
             {together}, in steps of {steps}. Serial entries take {alone}, and exits do not queue \
             ({out}). The platform must have a lock, for example around its only channel to a \
             power controller{until}."
        ),
        figures: all.chain(exits.figures()).collect(),
    })
}
