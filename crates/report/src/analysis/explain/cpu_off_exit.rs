//! Exits that are longer after CPU_OFF than after a suspend to the same level.

use run::measure::Metric::Wakeup;
use run::model::Kind;
use run::plan::ScenarioId::{CpuOffSerial, SuspendDeepSerial};

use super::cluster_flush::Flushes;
use super::explanation::Explanation;
use super::suite_tables::{Figure, SuiteTables};

/// The cost of an exit after CPU_OFF.
const CPU_OFF_EXIT: Kind = Kind::new("cpu-off-exit");

pub(super) fn explain(tables: &SuiteTables<'_>) -> Option<Explanation> {
    let off = tables.column(CpuOffSerial, Wakeup)?;
    let suspend = tables.column(SuspendDeepSerial, Wakeup)?;
    let flushes = [CpuOffSerial, SuspendDeepSerial].map(|id| Flushes::of(tables, id));
    let [Some(off_flushes), Some(suspend_flushes)] = flushes else {
        return None;
    };
    let is_of_one_level =
        |cpu| off_flushes.is_of_cluster(cpu) == suspend_flushes.is_of_cluster(cpu);
    let (off, suspend) = (
        off.filtered(is_of_one_level),
        suspend.filtered(is_of_one_level),
    );
    let pairs: Vec<(Figure, Figure)> = off.into_iter().zip(suspend).collect();
    // The lead is powered off only by suspends, so its exits may be equal.
    let is_shorter = |(off, suspend): &(Figure, Figure)| off.ticks + off.ticks / 20 < suspend.ticks;
    let is_longer =
        |(off, suspend): &&(Figure, Figure)| off.ticks >= suspend.ticks + suspend.ticks / 12;
    let longer: Vec<&(Figure, Figure)> = pairs.iter().filter(is_longer).collect();
    if pairs.len() < 2 || pairs.iter().any(is_shorter) || 2 * longer.len() <= pairs.len() {
        return None;
    }
    let cpus = tables.names(longer.iter().map(|it| it.0.cpu));
    let after_off = tables.range(longer.iter().map(|it| &it.0));
    let after_suspend = tables.range(longer.iter().map(|it| &it.1));
    Some(Explanation {
        kind: CPU_OFF_EXIT,
        sentence: format!(
            "Exits are longer after CPU_OFF than after a suspend to the same level, as CPU_ON's \
             finisher does more than the suspend finisher: {after_off} against {after_suspend} in \
             deep serial ({cpus})."
        ),
        figures: pairs.into_iter().flat_map(|it| [it.0, it.1]).collect(),
    })
}
