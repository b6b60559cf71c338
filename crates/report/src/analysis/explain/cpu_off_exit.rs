//! Exits that are longer after CPU_OFF than after a suspend to the same level.

use suite::measure::Metric::Wakeup;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_flush::Flushes;
use super::known_lead::lead;
use super::suite_tables::{SuiteTables, TableFigure};
use crate::analysis::findings::BasedFinding;

/// The additional exit cost after CPU_OFF.
const CPU_OFF_EXIT: FindingKind = FindingKind::new("cpu-off-exit");

/// Applies if every exit after CPU_OFF takes at least a twelfth longer than the same CPU's exit
/// from a suspend to the same level.
pub(in crate::analysis) fn cpu_off_exit(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    // This scenario only suspends the lead and never turns it off.
    let lead = lead(tables)?.cpu;
    let off_exits = tables.column(ScenarioId::CPU_OFF_SERIAL, Wakeup)?;
    let suspend_exits = tables.column(ScenarioId::SUSPEND_DEEP_SERIAL, Wakeup)?;
    let off_flushes = Flushes::of(tables, ScenarioId::CPU_OFF_SERIAL)?;
    let suspend_flushes = Flushes::of(tables, ScenarioId::SUSPEND_DEEP_SERIAL)?;
    // Without a cluster flush, there is no evidence of which level was powered down.
    if off_flushes.large().is_empty() || suspend_flushes.large().is_empty() {
        return None;
    }
    let is_of_one_level =
        |cpu| cpu != lead && off_flushes.is_of_cluster(cpu) == suspend_flushes.is_of_cluster(cpu);
    let pairs: Vec<(TableFigure, TableFigure)> = off_exits
        .filtered(is_of_one_level)
        .into_iter()
        .zip(suspend_exits.filtered(is_of_one_level))
        .collect();
    let are_longer = pairs
        .iter()
        .all(|(off_figure, suspend_figure)| tables.is_longer(off_figure, suspend_figure, 12));
    if pairs.len() < 2 || !are_longer {
        return None;
    }
    let cpus = tables.names(pairs.iter().map(|(off_figure, _)| off_figure.cpu));
    let after_off = tables.range(pairs.iter().map(|(off_figure, _)| off_figure));
    let after_suspend = tables.range(pairs.iter().map(|(_, suspend_figure)| suspend_figure));
    Some(BasedFinding::of_tables(
        CPU_OFF_EXIT,
        format!(
            "Exits are longer after CPU_OFF than after a suspend to the same level, because \
             CPU_ON's finisher does more than the suspend finisher: {after_off} compared with \
             {after_suspend} in deep serial ({cpus})."
        ),
        pairs
            .into_iter()
            .flat_map(|(off_figure, suspend_figure)| [off_figure, suspend_figure]),
    ))
}
