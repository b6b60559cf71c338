//! A lead whose calls take more or less time than those on the other CPUs in its cluster.

use suite::measure::Metric::Latency;
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::lead::lead;
use super::suite_tables::{SuiteTables, TableFigure};
use crate::analysis::findings::BasedFinding;

/// A CPU that differs from the others of its type.
const UNLIKE_TWIN: Kind = Kind::new("unlike-twin");

pub(in crate::analysis) fn unlike_twin(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let calls = tables.column(ScenarioId::PSCI_VERSION_PARALLEL, Latency)?;
    let lead = lead(tables)?;
    let twins = calls.filtered(|cpu| lead.has_twin(tables, cpu));
    let own = *calls.figure(lead.cpu)?;
    let is_more = |it: &TableFigure| tables.is_longer(it, &own, 5);
    let is_less = |it: &TableFigure| tables.is_longer(&own, it, 5);
    let word = if twins.iter().all(is_more) {
        "faster"
    } else if twins.iter().all(is_less) {
        "slower"
    } else {
        return None;
    };
    if twins.is_empty() {
        return None;
    }
    let (label, span) = (tables.logged.run.label(lead.cpu), tables.span(own.ticks));
    let (cpus, range) = (
        tables.names(twins.iter().map(|it| it.cpu)),
        tables.range(&twins),
    );
    Some(BasedFinding::of_tables(
        UNLIKE_TWIN,
        format!(
            "PSCI_VERSION is {word} on the lead, {label}, than on the other CPUs in its cluster: \
             {span} compared with {range} ({cpus}). The tables do not show why.{}",
            lead.remark()
        ),
        [own].into_iter().chain(twins),
    ))
}
