//! Turns the figures of both sides into changes.
//!
//! A figure is compared with that of the same CPU. In a queue, a different CPU may arrive first in
//! each run, so the figures of all CPUs are sorted and compared by rank.

use std::collections::HashSet;

use hardware::board::CpuIndex;
use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use run::measure::{Summary, Unit};
use run::model::Scenario;
use thiserror::Error;

use super::change::{Change, ChangeOutcome, ComparedValue};
use super::comparison::{ComparedScenario, JudgedBy};
use super::sides::{Keyed, Sides};
use crate::analysis::conditions::count_of_rows;
use crate::analysis::figure::{Figure, FigureKey, by_cpu_and_key, figures, is_sorted_by_size};
use crate::analysis::interval::{by_place, notch, notch_of_class};
use crate::log::LoggedRun;

/// Why a scenario is not compared.
#[derive(Debug, Error)]
pub(super) enum Incomparable {
    #[error("the baseline does not have it")]
    NotInBaseline,
    /// Conditions differ; contains the sentence that says which.
    #[error("{0}")]
    Conditions(String),
    #[error("{0} has no figure of it")]
    NoFigure(&'static str),
    #[error(
        "{rows} rows against {before}: figures that are compared by their order need as many on \
         both sides"
    )]
    RowCount { rows: usize, before: usize },
    #[error("the two have no figure in common")]
    NothingInCommon,
}

/// The figures of a scenario that are shown in tables.
struct ShownSide<'r> {
    clock: Clock,
    scenario: &'r Scenario,
    figures: Vec<Figure<'r>>,
}

impl<'r> ShownSide<'r> {
    /// Collects the figures: first by metric, then those of steps in order.
    fn of(run: &'r LoggedRun, scenario: &'r Scenario) -> Self {
        let mut all = figures(run, scenario);
        all.retain(|it| it.shown.is_some());
        let columns = scenario.columns();
        let column = |key: FigureKey| {
            columns
                .iter()
                .position(|it| Some(*it) == key.suite_metric())
        };
        all.sort_by_cached_key(|it| column(it.key).unwrap_or(columns.len()));
        Self {
            clock: run.run.clock(),
            scenario,
            figures: all,
        }
    }

    /// Returns the keys, in order.
    fn keys(&self) -> impl Iterator<Item = FigureKey> {
        self.figures.iter().map(|it| it.key).unique()
    }

    /// Returns the figures for a key, the smallest first.
    fn sorted(&self, key: FigureKey) -> Vec<&Figure<'r>> {
        let own = self.figures.iter().filter(|it| it.key == key);
        own.sorted_by_key(|it| (it.shown, it.cpu)).collect()
    }

    fn value(&self, figure: &Figure<'_>) -> ComparedValue {
        let shown = figure.shown.unwrap_or(0);
        // The spread of a serial figure that is not a median is unknown.
        let is_known = |it: &&Summary| self.scenario.id.is_parallel() || it.median == shown;
        self.value_of(figure, shown, figure.summary.filter(is_known))
    }

    fn value_of(&self, figure: &Figure<'_>, shown: u64, spread: Option<&Summary>) -> ComparedValue {
        let each = |it| figure.key.per_operation(self.clock, it);
        let interval = spread.and_then(match figure.key.is_of_classes() {
            true => notch_of_class,
            false => notch,
        });
        ComparedValue {
            figure: each(shown),
            interval: interval.map(|(low, high)| (each(low), each(high))),
            is_doubtful: figure.is_doubtful,
        }
    }
}

/// Compares a scenario, or returns why it cannot be compared.
pub(super) fn compare_figures(
    sides: &Sides<'_>,
    new: &Scenario,
    old: &Scenario,
) -> Result<ComparedScenario, Incomparable> {
    let is_sorted = is_sorted_by_size(new.id) || sides.keyed == Keyed::Ambiguous;
    let judged = if is_sorted {
        JudgedBy::Order
    } else {
        JudgedBy::Cpu
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
    if judged == JudgedBy::Order && rows != before {
        return Err(Incomparable::RowCount { rows, before });
    }
    let mut compared = ComparedScenario {
        key: new.key(),
        judged,
        by_cpu: Vec::new(),
        by_order: Vec::new(),
        unpaired: unpaired(sides, new, old),
        lacks: Vec::new(),
    };
    // The CPUs of a sweep's queue are compared only by order.
    if judged == JudgedBy::Cpu || !new.suite_cells().is_empty() {
        compared.by_cpu = by_cpu(sides, &now, &then);
    }
    if judged == JudgedBy::Order {
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
    if sides.keyed == Keyed::Ambiguous {
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
        let values = (now.value(figure), then.value(old));
        Some(change(sides, figure, old, None, values))
    });
    each.collect()
}

fn by_order(sides: &Sides<'_>, now: &ShownSide<'_>, then: &ShownSide<'_>) -> Vec<Change> {
    let mut all = Vec::new();
    for key in now.keys() {
        let (news, olds) = (now.sorted(key), then.sorted(key));
        // With a different number of CPUs in the queue, the figures mean something else.
        if news.len() != olds.len() {
            continue;
        }
        // All rounds together, or the round shown on each side.
        let places = |side: &ShownSide<'_>| {
            let scenario = Some(side.scenario).filter(|it| it.id.is_parallel());
            by_place(scenario?, key.suite_metric()?)
        };
        let places = places(now).zip(places(then));
        for (place, (new, old)) in news.iter().zip(&olds).enumerate() {
            let of_place = places.as_ref().and_then(|(news, olds)| {
                let value = |side: &ShownSide<'_>, figure, all: &[Summary]| {
                    let summary = all.get(place)?;
                    Some(side.value_of(figure, summary.median, Some(summary)))
                };
                Some((value(now, new, news)?, value(then, old, olds)?))
            });
            let values = of_place.unwrap_or_else(|| (now.value(new), then.value(old)));
            all.push(change(sides, new, old, Some(place), values));
        }
    }
    all
}

fn change(
    sides: &Sides<'_>,
    new: &Figure<'_>,
    old: &Figure<'_>,
    place: Option<usize>,
    values: (ComparedValue, ComparedValue),
) -> Change {
    let key = new.key;
    // A tick of a sample is a fraction of a tick per operation.
    let of_step = |run: &LoggedRun| key.per_operation(run.run.clock(), 1);
    let tick = match key.is_of_step() {
        true => of_step(sides.new).max(of_step(&sides.old)),
        false => sides.tick,
    };
    let outcome = match key.unit() {
        Unit::Ticks | Unit::Cycles => {
            ChangeOutcome::of(&values.0, &values.1, sides.tolerance, tick)
        }
        // A state that is no longer reached.
        Unit::Count if values.0.figure < values.1.figure => ChangeOutcome::Worse,
        // How long a CPU sleeps is not a cost.
        Unit::Count | Unit::Microseconds => ChangeOutcome::Same,
    };
    Change {
        key,
        place,
        cpu: new.cpu,
        old_cpu: old.cpu,
        new: values.0,
        old: values.1,
        outcome,
    }
}
