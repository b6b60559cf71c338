//! Phrases that findings of comparisons share.

use super::change::Change;
use super::comparison::{ComparedScenario, baseline_scenario, scenario_title};
use super::sides::Sides;
use crate::report::analysis::basis::{Basis, Side};
use crate::report::analysis::words::durations_text;
use crate::setup::plural::many;

/// Returns the scenario's name, with its method if there are several.
pub(super) fn title(sides: &Sides<'_>, scenario: &ComparedScenario) -> String {
    scenario_title(sides.runs(), scenario.key)
}

/// Returns the range of durations.
pub(super) fn durations(sides: &Sides<'_>, all: impl Iterator<Item = f64>) -> String {
    durations_text(sides.new.run.clock().is_known(), all)
}

/// Returns a change in percent, as TF-A's tables have it.
pub(super) fn percent(change: f64) -> String {
    format!("{change:+.2} %")
}

/// Returns the range of changes in percent; from zero there is none.
pub(super) fn shares(changes: &[&Change]) -> String {
    let mut all: Vec<f64> = changes.iter().filter_map(|it| it.percent()).collect();
    all.sort_by(f64::total_cmp);
    match all.as_slice() {
        [] => "from zero".to_owned(),
        [only] => percent(*only),
        [first, .., last] => format!("{} to {}", percent(*first), percent(*last)),
    }
}

/// Returns the greatest change in either direction, in percent.
pub(super) fn greatest(changes: &[&Change]) -> f64 {
    let all = changes.iter().filter_map(|it| it.percent());
    all.map(f64::abs).fold(0.0, f64::max)
}

/// Returns the places in the order of size, from 1.
pub(super) fn places(changes: &[&Change]) -> Vec<String> {
    let places = changes.iter().filter_map(|it| it.place);
    places.map(|place| (place + 1).to_string()).collect()
}

/// Returns the number of figures that are within noise or a tick, as a clause.
pub(super) fn noise_clause(count: usize, what: &str) -> String {
    match count {
        0 => String::new(),
        _ => format!(", {} by no more than noise or a tick", many(count, what)),
    }
}

/// Returns the rows of both sides that `changes` are of.
pub(super) fn bases(
    sides: &Sides<'_>,
    scenario: &ComparedScenario,
    changes: &[&Change],
) -> Vec<Basis> {
    let old = baseline_scenario(&sides.old.run, scenario.key);
    let keys = [
        (Side::Run, Some(scenario.key)),
        (Side::Baseline, old.map(|it| it.key())),
    ];
    let mut all: Vec<Basis> = Vec::new();
    for (side, key) in keys {
        for change in changes {
            let Some((key, metric)) = key.zip(change.key.metric()) else {
                continue;
            };
            let cpu = match side {
                Side::Run => change.cpu,
                Side::Baseline => change.old_cpu,
            };
            let is_own = |it: &&mut Basis| it.side == side && it.metric == metric;
            match all.iter_mut().find(is_own) {
                Some(it) => it.cpus.push(cpu),
                None => all.push(Basis {
                    side,
                    scenario: key,
                    metric,
                    cpus: vec![cpu],
                }),
            }
        }
    }
    all
}
