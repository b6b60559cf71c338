//! CPUs of one type that are faster than CPUs of another type.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use suite::measure::Metric::{self, Latency, Powerdown, Wakeup};
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_facts::cluster_facts;
use super::known_lead::lead;
use super::suite_tables::{SuiteTables, TableFigure, exceeds};
use crate::analysis::findings::BasedFinding;

/// Figures by CPU type.
const CPU_TYPES: FindingKind = FindingKind::new("cpu-types");

/// The metrics that do not include waiting for another CPU, with their names for use in a sentence.
const UNDISTURBED: [(ScenarioId, Metric, &str); 3] = [
    (
        ScenarioId::CPU_SUSPEND_SERIAL,
        Powerdown,
        "entry in level 0 serial",
    ),
    (ScenarioId::CPU_OFF_SERIAL, Wakeup, "exit after CPU_OFF"),
    (ScenarioId::PSCI_VERSION_PARALLEL, Latency, "PSCI_VERSION"),
];

/// The minimum number of these metrics that must agree.
const AGREED_MIN: usize = 2;

/// Applies if there are two CPU types and the same one is faster in at least two metrics.
pub(in crate::analysis) fn cpu_types(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let types = cluster_facts(tables)
        .into_iter()
        .map(|facts| Some((facts.cluster, facts.cpu_type?)))
        .collect::<Option<BTreeMap<u16, String>>>()?;
    let (one, other) = types.values().unique().collect_tuple()?;
    let lead = lead(tables).map(|lead| lead.cpu);
    let mut comparisons = Vec::new();
    for (scenario, metric, name) in UNDISTURBED {
        let Some(column) = tables.column(scenario, metric) else {
            continue;
        };
        // The CPU_OFF scenario suspends only the lead. If the lead is unknown, so is whether the
        // other figures contradict the explanation.
        let left_out = match scenario {
            ScenarioId::CPU_OFF_SERIAL => Some(lead?),
            _ => None,
        };
        let (ones, others): (Vec<TableFigure>, Vec<TableFigure>) = column
            .figures()
            .filter(|figure| Some(figure.cpu) != left_out)
            .partition(|figure| &types[&tables.cluster(figure.cpu)] == one);
        if are_less(tables, &ones, &others) {
            comparisons.push((one, name, ones, others));
        } else if are_less(tables, &others, &ones) {
            comparisons.push((other, name, others, ones));
        }
    }
    let mut winners = comparisons.iter().map(|(winner, ..)| *winner);
    let winner = winners.all_equal_value().ok()?;
    if comparisons.len() < AGREED_MIN {
        return None;
    }
    let loser = if winner == one { other } else { one };
    let phrases = comparisons
        .iter()
        .map(|(_, name, lesser_figures, greater_figures)| {
            let short = tables.range(lesser_figures);
            let long = tables.range(greater_figures);
            format!("{name} {short} compared with {long}")
        })
        .join(", ");
    let basis = comparisons
        .iter()
        .flat_map(|(_, _, lesser_figures, greater_figures)| {
            lesser_figures.iter().chain(greater_figures)
        });
    Some(BasedFinding::of_tables(
        CPU_TYPES,
        format!("{winner} CPUs are faster than {loser} CPUs: {phrases}."),
        basis.copied(),
    ))
}

/// Returns true if every figure in `more` is at least 5 % greater than every figure in `less`, and
/// no sample contradicts that.
fn are_less(tables: &SuiteTables<'_>, less: &[TableFigure], more: &[TableFigure]) -> bool {
    let most = less.iter().map(|figure| figure.ticks).max();
    let least = more.iter().map(|figure| figure.ticks).min();
    let ranges = tables.sample_range(less).zip(tables.sample_range(more));
    most.zip(least)
        .is_some_and(|(greatest_figure, least_figure)| exceeds(least_figure, greatest_figure, 20))
        && ranges.is_some_and(|(lesser_range, greater_range)| lesser_range.1 < greater_range.0)
}
