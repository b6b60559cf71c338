//! A lead whose calls take more or less time than those on the other CPUs in its cluster.

use suite::measure::Metric::Latency;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::known_lead::lead;
use super::suite_tables::{SuiteTables, TableFigure};
use crate::analysis::findings::BasedFinding;

/// A CPU that differs from the others of its type.
const UNLIKE_TWIN: FindingKind = FindingKind::new("unlike-twin");

/// Applies if calls on all other CPUs in the lead's cluster are slower than on the lead, or all are
/// faster.
pub(in crate::analysis) fn unlike_twin(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let calls = tables.column(ScenarioId::PSCI_VERSION_PARALLEL, Latency)?;
    let lead = lead(tables)?;
    let twins = calls.filtered(|cpu| lead.has_twin(tables, cpu));
    if twins.is_empty() {
        return None;
    }
    let lead_call = *calls.figure(lead.cpu)?;
    let is_more = |twin: &TableFigure| tables.is_longer(twin, &lead_call, 5);
    let is_less = |twin: &TableFigure| tables.is_longer(&lead_call, twin, 5);
    let word = if twins.iter().all(is_more) {
        "faster"
    } else if twins.iter().all(is_less) {
        "slower"
    } else {
        return None;
    };
    let label = tables.logged.run.label(lead.cpu);
    let span = tables.span(lead_call.ticks);
    let cpus = tables.names(twins.iter().map(|twin| twin.cpu));
    let range = tables.range(&twins);
    Some(BasedFinding::of_tables(
        UNLIKE_TWIN,
        format!(
            "PSCI_VERSION is {word} on the lead, {label}, than on the other CPUs in its cluster: \
             {span} compared with {range} ({cpus}). The tables do not show why.{}",
            lead.remark()
        ),
        [lead_call].into_iter().chain(twins),
    ))
}
