//! The cost of PMF: the change in the times that the caller measures, from firmware without PMF to
//! the same firmware with PMF.
//!
//! The payload reads PMF's timestamps after the timed region, so that these times do not include
//! the reads.

use serde_json::{Map, Value};
use suite::measure::Metric;
use suite::model::{Cell, CellStep, Run};
use suite::plan::{ActiveCpus, Variant};

use crate::analysis::conditions::{PMF_COST_RUNS, differences};
use crate::log::LoggedRun;

/// Returns true if only the firmware of `new` has PMF, according to the payload's probe.
fn is_pmf_added(new: &LoggedRun, old: &LoggedRun) -> bool {
    let has_pmf = |logged: &LoggedRun| logged.run.facts.as_ref().map(|facts| facts.pmf.is_ok());
    has_pmf(new) == Some(true) && has_pmf(old) == Some(false)
}

/// Returns true if the difference between the runs is the cost of PMF: only the firmware of `new`
/// has PMF, and nothing else differs.
pub(super) fn is_pmf_cost(new: &LoggedRun, old: &LoggedRun) -> bool {
    is_pmf_added(new, old) && other_difference(new, old).is_none()
}

/// Returns a sentence that says why the cost of PMF is not shown, if only one of the runs has PMF.
pub(super) fn why_not_shown(new: &LoggedRun, old: &LoggedRun) -> Option<String> {
    if is_pmf_added(old, new) {
        return Some("To see the cost of PMF, specify the run without PMF first".to_owned());
    }
    let difference = other_difference(new, old).filter(|_| is_pmf_added(new, old))?;
    Some(format!(
        "The cost of PMF is not shown either, because {difference}"
    ))
}

/// Describes a difference between the runs, other than PMF.
fn other_difference(new: &LoggedRun, old: &LoggedRun) -> Option<String> {
    let condition = differences(PMF_COST_RUNS, [(new, None), (old, None)], true)
        .next()
        .map(|difference| {
            let [now, then] = difference.values;
            (difference.name, now, then)
        });
    let (name, now, then) = condition.or_else(|| differing_fact(&new.run, &old.run))?;
    Some(format!(
        "{name} is {now} in the run, but {then} in the baseline"
    ))
}

/// Returns the first fact that differs, with its values. Facts that depend on PMF are ignored.
fn differing_fact(new: &Run, old: &Run) -> Option<(String, String, String)> {
    const PMF_KEYS: [&str; 2] = ["pmf", "overheads"];
    let [now, then] = [new, old].map(|run| {
        let facts = serde_json::to_value(run.facts.as_ref());
        facts.expect("facts have only string keys")
    });
    let key = [&now, &then]
        .into_iter()
        .filter_map(|facts| facts.as_object())
        .flat_map(Map::keys)
        .find(|key| !PMF_KEYS.contains(&key.as_str()) && now.get(key) != then.get(key))?;
    let value = |facts: &Value| {
        facts
            .get(key)
            .map_or("unknown".to_owned(), Value::to_string)
    };
    Some((key.clone(), value(&now), value(&then)))
}

/// Returns a run with the figures that firmware without PMF would give: those measured by the
/// caller. Omits figures that depend on PMF or on other CPUs.
pub(super) fn callers_times(logged: &LoggedRun) -> LoggedRun {
    let mut without_pmf = logged.clone();
    for scenario in &mut without_pmf.run.scenarios {
        if let Some(conditions) = &mut scenario.conditions {
            conditions.pmf = false;
        }
        scenario.cells.iter_mut().for_each(keep_callers_times);
    }
    without_pmf
}

/// Removes the series that the caller does not measure, and shows the medians of the others.
fn keep_callers_times(cell: &mut Cell) {
    let has_slept = cell.summary(Metric::Wake).is_some();
    let step = cell.step;
    cell.series
        .retain(|series| is_callers_time(step, series.metric, has_slept));
    for series in &mut cell.series {
        series.shown = (series.summary.n > 0).then_some(series.summary.median);
    }
}

/// Returns true if the caller measures the figure and it depends neither on PMF nor on other CPUs.
fn is_callers_time(step: CellStep, metric: Metric, has_slept: bool) -> bool {
    if !step.is_only() {
        let is_callers = matches!(metric, Metric::Time | Metric::Wake | Metric::TurnOn);
        return is_callers && step.cpus == ActiveCpus::Alone && step.variant != Variant::LOOP;
    }
    match metric {
        Metric::Wake | Metric::TurnOn => true,
        // A call that sleeps takes as long as the sleep.
        Metric::Call => !has_slept,
        _ => false,
    }
}
