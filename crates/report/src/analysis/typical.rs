//! Composes a representative run from several runs on one board, scenario by scenario.

use anyhow::{Result, bail};
use itertools::Itertools as _;
use run::measure::Metric;
use run::model::Scenario;

use super::merge::check;
use crate::log::LoggedRun;

/// Returns a run composed of scenarios from all the runs. Each scenario is copied from the run in
/// which its longest figure is the median across all runs. Each scenario is therefore a single
/// complete measurement, not a mixture of several. `runs` must not be empty, and all runs must have
/// the same conditions.
pub fn typical(runs: &[LoggedRun]) -> Result<LoggedRun> {
    let (first, others) = runs.split_first().expect("at least one run");
    let mut typical = first.clone();
    if others.is_empty() {
        return Ok(typical);
    }
    others.iter().try_for_each(|other| check(first, other))?;
    let keys = runs
        .iter()
        .flat_map(|it| &it.run.scenarios)
        .map(Scenario::key);
    for key in keys.unique() {
        if let Some(run) = runs.iter().find(|it| it.run.scenario(key).is_none()) {
            bail!(
                "{}: lacks {}, which another run has",
                run.source.input,
                key.id
            );
        }
    }
    for scenario in &mut typical.run.scenarios {
        let key = scenario.key();
        let all = runs.iter().filter_map(|it| it.run.scenario(key));
        let mut all = all.collect_vec();
        all.sort_by_key(|it| longest(it));
        *scenario = all[(all.len() - 1) / 2].clone();
    }
    if let Some(least) = runs.iter().find(|it| !it.is_complete()) {
        bail!(
            "{}: incomplete, so it cannot represent other runs",
            least.source.input
        );
    }
    let inputs = runs.iter().map(|it| it.source.input.as_str());
    typical.source.input = inputs.unique().join(", ");
    Ok(typical)
}

/// Returns the longest Powerdown or Latency figure.
fn longest(scenario: &Scenario) -> Option<u64> {
    let cells = scenario.suite_cells().iter();
    let figures = cells.map(|it| it.figure(Metric::Powerdown).or(it.figure(Metric::Latency)));
    figures.flatten().max()
}
