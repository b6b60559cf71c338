//! Computes the changes between the figures on the two sides.
//!
//! A figure is compared with the same CPU's figure on the other side. In a queue, a different CPU
//! may arrive first in each run, so the figures for all CPUs are sorted and compared by rank.

use std::collections::HashSet;

use hardware::board::CpuIndex;
use suite::model::Scenario;
use thiserror::Error;

use super::change::{Change, ChangeOutcome, ComparedValue};
use super::comparison::{ChangeList, ComparedScenario};
use super::shown_side::ShownSide;
use super::sides::{RowPairing, Sides};
use crate::analysis::conditions::count_of_rows;
use crate::analysis::figure::{Figure, FigureKey, by_cpu_and_key, is_sorted_by_size};

/// The reason why a scenario is not compared.
#[derive(Debug, Error)]
pub(super) enum Incomparable {
    #[error("the baseline does not have this scenario")]
    NotInBaseline,
    /// The conditions differ. The string describes the difference.
    #[error("{0}")]
    Conditions(String),
    #[error("{0} has no figures for this scenario")]
    NoFigure(&'static str),
    /// The comparison is between firmware without PMF and firmware with PMF.
    #[error("its figures do not show the cost of PMF")]
    NoCost,
    /// The comparison is between firmware without PMF and firmware with PMF.
    #[error("CPUs wait for each other, so the caller's times do not show the cost of PMF")]
    Queue,
    #[error(
        "{rows} rows, but {before} in the baseline: comparing by rank requires the same number on \
         both sides"
    )]
    RowCount { rows: usize, before: usize },
    #[error("the two runs have no figures in common")]
    NothingInCommon,
}

/// Compares a scenario, or returns the reason why it cannot be compared.
pub(super) fn compare_figures(
    sides: &Sides<'_>,
    new: &Scenario,
    old: &Scenario,
) -> Result<ComparedScenario, Incomparable> {
    let is_sorted = is_sorted_by_size(new.id) || sides.row_pairing == RowPairing::Ambiguous;
    let judged_by = if is_sorted {
        ChangeList::Order
    } else {
        ChangeList::Cpu
    };
    let now = ShownSide::of(sides.new, new);
    let then = ShownSide::of(&sides.old, old);
    for (side, name) in [(&now, "the run"), (&then, "the baseline")] {
        if side.figures.is_empty() {
            return Err(Incomparable::NoFigure(name));
        }
    }
    let [rows, before] = [new, old].map(count_of_rows);
    if judged_by == ChangeList::Order && rows != before {
        return Err(Incomparable::RowCount { rows, before });
    }
    let mut compared = ComparedScenario {
        key: new.key(),
        judged_by,
        by_cpu: Vec::new(),
        by_order: Vec::new(),
        unpaired: unpaired(sides, new, old),
        lacks: Vec::new(),
    };
    // CPUs in a sweep's queue are compared only by rank.
    if judged_by == ChangeList::Cpu || !new.suite_cells().is_empty() {
        compared.by_cpu = by_cpu(sides, &now, &then);
    }
    if judged_by == ChangeList::Order {
        compared.by_order = by_order(sides, &now, &then);
    }
    if compared.changes().is_empty() {
        return Err(Incomparable::NothingInCommon);
    }
    let covered: HashSet<(CpuIndex, FigureKey)> = compared
        .changes()
        .iter()
        .map(|change| (change.old_cpu, change.key))
        .collect();
    compared.lacks = then
        .figures
        .iter()
        .map(|figure| (figure.cpu, figure.key))
        .filter(|cpu_and_key| !covered.contains(cpu_and_key))
        .collect();
    Ok(compared)
}

/// Returns the CPUs for which the other side has no row: the run's, and the baseline's.
fn unpaired(sides: &Sides<'_>, new: &Scenario, old: &Scenario) -> (Vec<CpuIndex>, Vec<CpuIndex>) {
    if sides.row_pairing == RowPairing::Ambiguous {
        return (Vec::new(), Vec::new());
    }
    let lacks_old = |cpu: &CpuIndex| {
        let old_cpu = sides.old_cpu(*cpu);
        old_cpu.and_then(|old_cpu| old.cell(old_cpu)).is_none()
    };
    let lacks_new = |cpu: &CpuIndex| {
        let new_cpu = sides.new_cpu(*cpu);
        new_cpu.and_then(|new_cpu| new.cell(new_cpu)).is_none()
    };
    let news = new.suite_cells().iter().map(|cell| cell.cpu);
    let olds = old.suite_cells().iter().map(|cell| cell.cpu);
    (
        news.filter(lacks_old).collect(),
        olds.filter(lacks_new).collect(),
    )
}

/// Compares each CPU's figures with those of the same CPU in the baseline.
fn by_cpu(sides: &Sides<'_>, now: &ShownSide<'_>, then: &ShownSide<'_>) -> Vec<Change> {
    let olds = by_cpu_and_key(then.figures.clone());
    let changes = now.figures.iter().filter_map(|new_figure| {
        let old_figure = olds.get(&(sides.old_cpu(new_figure.cpu)?, new_figure.key))?;
        let tick = now.tick(new_figure.key).max(then.tick(new_figure.key));
        let new_value = (new_figure, now.value(new_figure));
        let old_value = (old_figure, then.value(old_figure));
        Some(change(sides, tick, new_value, old_value, None))
    });
    changes.collect()
}

/// Compares the figures by size rank.
fn by_order(sides: &Sides<'_>, now: &ShownSide<'_>, then: &ShownSide<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for key in now.keys() {
        // The meaning of the figures depends on the number of CPUs in the queue.
        if now.count_of(key) != then.count_of(key) {
            continue;
        }
        // Use all rounds if both sides have them, otherwise the round that each side shows in its
        // tables.
        let summaries = now
            .position_summaries(key)
            .zip(then.position_summaries(key));
        let [new_summaries, old_summaries] = match &summaries {
            Some((new, old)) => [Some(&new[..]), Some(&old[..])],
            None => [None; 2],
        };
        let news = now.values_by_order(key, new_summaries);
        let olds = then.values_by_order(key, old_summaries);
        let tick = now.tick(key).max(then.tick(key));
        for (rank, (new, old)) in news.into_iter().zip(olds).enumerate() {
            changes.push(change(sides, tick, new, old, Some(rank)));
        }
    }
    changes
}

/// Returns a change with its verdict. Each side is a figure and its value, and `tick` is the
/// coarser of the two resolutions.
fn change(
    sides: &Sides<'_>,
    tick: f64,
    (new, now): (&Figure<'_>, ComparedValue),
    (old, then): (&Figure<'_>, ComparedValue),
    rank: Option<usize>,
) -> Change {
    let key = new.key;
    Change {
        key,
        rank,
        cpu: new.cpu,
        old_cpu: old.cpu,
        outcome: ChangeOutcome::of_figures(key, &now, &then, sides.tolerance, tick),
        new: now,
        old: then,
    }
}
