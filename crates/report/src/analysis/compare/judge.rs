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
    let (now, then) = (
        ShownSide::of(sides.new, new),
        ShownSide::of(&sides.old, old),
    );
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
    let changes = compared.changes().iter().map(|it| (it.old_cpu, it.key));
    let changes: HashSet<(CpuIndex, FigureKey)> = changes.collect();
    let olds = then.figures.iter().map(|it| (it.cpu, it.key));
    compared.lacks = olds.filter(|it| !changes.contains(it)).collect();
    Ok(compared)
}

/// Returns the CPUs for which the other side has no row.
fn unpaired(sides: &Sides<'_>, new: &Scenario, old: &Scenario) -> (Vec<CpuIndex>, Vec<CpuIndex>) {
    if sides.row_pairing == RowPairing::Ambiguous {
        return (Vec::new(), Vec::new());
    }
    let cpus = |of: &Scenario| of.suite_cells().iter().map(|it| it.cpu).collect();
    let (mut news, mut olds): (Vec<CpuIndex>, Vec<CpuIndex>) = (cpus(new), cpus(old));
    news.retain(|cpu| sides.old_cpu(*cpu).and_then(|it| old.cell(it)).is_none());
    olds.retain(|cpu| sides.new_cpu(*cpu).and_then(|it| new.cell(it)).is_none());
    (news, olds)
}

fn by_cpu(sides: &Sides<'_>, now: &ShownSide<'_>, then: &ShownSide<'_>) -> Vec<Change> {
    let olds = by_cpu_and_key(then.figures.clone());
    let each = now.figures.iter().filter_map(|figure| {
        let old = olds.get(&(sides.old_cpu(figure.cpu)?, figure.key))?;
        let tick = now.tick(figure.key).max(then.tick(figure.key));
        let (new, old) = ((figure, now.value(figure)), (old, then.value(old)));
        Some(change(sides, tick, new, old, None))
    });
    each.collect()
}

fn by_order(sides: &Sides<'_>, now: &ShownSide<'_>, then: &ShownSide<'_>) -> Vec<Change> {
    let mut all = Vec::new();
    for key in now.keys() {
        // The meaning of the figures depends on the number of CPUs in the queue.
        if now.count_of(key) != then.count_of(key) {
            continue;
        }
        // Use all rounds if both sides have them, otherwise the round that each side shows in its
        // tables.
        let places = now.places(key).zip(then.places(key));
        let [of_now, of_then] = match &places {
            Some((now, then)) => [Some(&now[..]), Some(&then[..])],
            None => [None; 2],
        };
        let news = now.values_by_order(key, of_now);
        let olds = then.values_by_order(key, of_then);
        let tick = now.tick(key).max(then.tick(key));
        for (place, (new, old)) in news.into_iter().zip(olds).enumerate() {
            all.push(change(sides, tick, new, old, Some(place)));
        }
    }
    all
}

fn change(
    sides: &Sides<'_>,
    tick: f64,
    (new, now): (&Figure<'_>, ComparedValue),
    (old, then): (&Figure<'_>, ComparedValue),
    place: Option<usize>,
) -> Change {
    let key = new.key;
    Change {
        key,
        place,
        cpu: new.cpu,
        old_cpu: old.cpu,
        outcome: ChangeOutcome::of_figures(key, &now, &then, sides.tolerance, tick),
        new: now,
        old: then,
    }
}
