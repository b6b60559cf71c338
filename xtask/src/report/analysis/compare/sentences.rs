//! Phrases that findings of comparisons share.

use itertools::{Itertools as _, MinMaxResult};

use super::change::Change;
use super::comparison::{ComparedScenario, scenario_title};
use super::sides::Sides;
use crate::report::analysis::basis::Basis;
use crate::report::analysis::words::durations_text;
use crate::report::log::grouped::grouped;
use crate::setup::plural::many;

/// Returns the scenario's name, with its method if there are several.
pub(super) fn title(sides: &Sides<'_>, scenario: &ComparedScenario) -> String {
    scenario_title(sides.runs(), scenario.key)
}

pub(super) fn durations(sides: &Sides<'_>, all: impl Iterator<Item = f64>) -> String {
    durations_text(sides.new.run.clock().is_known(), all)
}

pub(super) fn percent(change: f64) -> String {
    format!("{change:+.2} %")
}

/// Returns the range of changes in percent; from zero there is none.
pub(super) fn shares(changes: &[&Change]) -> String {
    let all = changes.iter().filter_map(|it| it.percent());
    match all.minmax_by(|a, b| a.total_cmp(b)) {
        MinMaxResult::NoElements => "from zero".to_owned(),
        MinMaxResult::OneElement(only) => percent(only),
        MinMaxResult::MinMax(least, most) => format!("{} to {}", percent(least), percent(most)),
    }
}

/// Returns the greatest change in either direction, in percent.
pub(super) fn greatest(changes: &[&Change]) -> f64 {
    let all = changes.iter().filter_map(|it| it.percent());
    all.map(f64::abs).fold(0.0, f64::max)
}

/// Returns the places in the order of size, from 1.
pub(super) fn places(changes: &[&Change]) -> String {
    let mut places = changes.iter().filter_map(|it| Some(it.place? + 1));
    places.join(", ")
}

/// Returns the number of figures that are within noise or a tick, as a clause.
pub(super) fn noise_clause(count: usize, what: &'static str) -> String {
    match count {
        0 => String::new(),
        _ => format!(", {} by no more than noise or a tick", many(count, what)),
    }
}

/// Returns the rows of both sides that `changes` are of. Metrics of the same CPUs
/// stand together.
pub(super) fn bases(scenario: &ComparedScenario, changes: &[&Change]) -> Vec<Basis> {
    let metrics = changes.iter();
    let metrics = metrics.filter_map(|it| Some((it.key.metric()?, *it)));
    let mut all: Vec<Basis> = Vec::new();
    for (metric, own) in grouped(metrics) {
        let (new, old) = own.iter().map(|it| (it.cpu, it.old_cpu)).unzip();
        let cpus = [new, old];
        match all.iter_mut().find(|it| it.cpus == cpus) {
            Some(it) => it.metrics.push(metric),
            None => all.push(Basis {
                scenario: scenario.key,
                metrics: vec![metric],
                cpus,
            }),
        }
    }
    all
}
