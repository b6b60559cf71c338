//! CPUs of one type that are faster than CPUs of another type.

use itertools::Itertools as _;
use suite::measure::Metric::{self, Latency, Powerdown, Wakeup};
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::cluster_facts::cluster_facts;
use super::lead::lead;
use super::suite_tables::{SuiteTables, TableFigure, exceeds};
use crate::analysis::findings::BasedFinding;

/// Figures by CPU type.
const CPU_TYPES: Kind = Kind::new("cpu-types");

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

pub(in crate::analysis) fn cpu_types(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let facts = cluster_facts(tables);
    let types: Option<Vec<String>> = facts.iter().map(|it| it.cpu_type.clone()).collect();
    let types = types?;
    let (one, other) = types.iter().unique().collect_tuple()?;
    let type_of = |it: &TableFigure| {
        let cluster = tables.cluster(it.cpu);
        let place = facts.iter().position(|fact| fact.cluster == cluster);
        place.map(|place| &types[place])
    };
    let lead = lead(tables).map(|it| it.cpu);
    let mut quicker = Vec::new();
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
        let of = |wanted: &String| {
            let own = column.figures().filter(|it| Some(it.cpu) != left_out);
            let own = own.filter(|it| type_of(it) == Some(wanted));
            own.copied().collect::<Vec<TableFigure>>()
        };
        let (mine, others) = (of(one), of(other));
        if are_less(tables, &mine, &others) {
            quicker.push((one, name, mine, others));
        } else if are_less(tables, &others, &mine) {
            quicker.push((other, name, others, mine));
        }
    }
    let winner = quicker.iter().map(|it| it.0).all_equal_value().ok()?;
    if quicker.len() < AGREED_MIN {
        return None;
    }
    let loser = if winner == one { other } else { one };
    let each = quicker.iter().map(|(_, name, less, more)| {
        format!(
            "{name} {} compared with {}",
            tables.range(less),
            tables.range(more)
        )
    });
    let each = each.format(", ");
    let figures = quicker.iter().flat_map(|it| it.2.iter().chain(&it.3));
    Some(BasedFinding::of_tables(
        CPU_TYPES,
        format!("{winner} CPUs are faster than {loser} CPUs: {each}."),
        figures.copied(),
    ))
}

/// Returns true if every figure in `more` is at least 5 % greater than every figure in `less`, and
/// no sample contradicts that.
fn are_less(tables: &SuiteTables<'_>, less: &[TableFigure], more: &[TableFigure]) -> bool {
    let most = less.iter().map(|it| it.ticks).max();
    let least = more.iter().map(|it| it.ticks).min();
    let ends = most.zip(least);
    let samples = tables.sample_range(less).zip(tables.sample_range(more));
    ends.is_some_and(|(most, least)| exceeds(least, most, 20))
        && samples.is_some_and(|(less, more)| less.1 < more.0)
}
