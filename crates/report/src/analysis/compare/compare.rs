//! Compares a run with a baseline. Each CPU is compared with the same CPU in the baseline. If CPUs
//! go down at the same time, positions in the arrival order are compared instead.

use anyhow::{Result, bail, ensure};
use itertools::Itertools as _;
use suite::model::Scenario;

use super::comparison::{
    ComparedScenario, Comparison, Difference, Options, Refused, baseline_scenario,
};
use super::judge::{Incomparable, compare_figures};
use super::pmf_cost;
use super::sides::Sides;
use crate::analysis::conditions::{
    AllowedDifference, COMPARED_IF_KNOWN, COMPARED_RUNS, differences, refusal,
};
use crate::analysis::figure::has_figures;
use crate::analysis::findings::difference_findings;
use crate::log::LoggedRun;

/// Compares the runs with `baseline`.
pub fn compare(
    runs: &[LoggedRun],
    baseline: &LoggedRun,
    options: &Options,
) -> Result<Vec<Comparison>> {
    runs.iter()
        .enumerate()
        .map(|(index, logged)| compare_one(index, logged, baseline, options))
        .collect()
}

/// Checks that two runs can be compared.
fn check(new: &LoggedRun, old: &LoggedRun, options: &Options) -> Result<()> {
    let run = &new.source.input;
    let baseline = &old.source.input;
    for logged in [new, old] {
        let is_first_run = logged
            .run
            .plan
            .is_some_and(|plan| plan.scenarios.is_first());
        ensure!(
            !is_first_run,
            "{} is a board's first run (only=first), which takes each step once; compare runs of \
             the scenarios instead",
            logged.source.input
        );
    }
    let sides = [(new, None), (old, None)];
    let strict = differences(COMPARED_RUNS, sides, true);
    for difference in strict.chain(differences(COMPARED_IF_KNOWN, sides, false)) {
        let name = difference.name;
        let [x, y] = difference.values;
        let allowed_difference = difference.allowed_difference;
        if let Some(allowed) = allowed_difference
            .filter(|difference| !options.allowed_differences.contains(difference))
        {
            let option = allowed.option();
            bail!(
                "{name} is {x:?} in {run}, but {y:?} in the baseline {baseline}; {option} compares \
                 them anyway"
            );
        }
    }
    ensure!(
        new.run.clock().is_known() == old.run.clock().is_known(),
        "only one of {run} and the baseline {baseline} has a known counter frequency; ticks \
         cannot be compared with nanoseconds"
    );
    Ok(())
}

/// Compares the run with this index.
fn compare_one(
    index: usize,
    new: &LoggedRun,
    old: &LoggedRun,
    options: &Options,
) -> Result<Comparison> {
    check(new, old, options)?;
    let is_pmf_cost = options.shows_pmf_cost && pmf_cost::is_pmf_cost(new, old);
    let callers = is_pmf_cost.then(|| pmf_cost::callers_times(new));
    let sides = Sides::of(callers.as_ref().unwrap_or(new), old, options.tolerance_ppm)?;
    let (scenarios, refused) = compare_scenarios(&sides, &options.allowed_differences, is_pmf_cost);
    if scenarios.is_empty() {
        let mut why = refused
            .iter()
            .map(|refusal| format!("{}: {}", refusal.id, refusal.why))
            .join("; ");
        if options.shows_pmf_cost
            && let Some(why_no_cost) = pmf_cost::why_not_shown(new, old)
        {
            why = format!("{why}. {why_no_cost}");
        }
        let run = &new.source.input;
        let baseline = &old.source.input;
        bail!("nothing in {run} can be compared with the baseline {baseline}. {why}");
    }
    let difference = Difference {
        sides: &sides,
        scenarios: &scenarios,
    };
    let findings = difference_findings(&difference, is_pmf_cost);
    Ok(Comparison {
        run: index,
        tolerance_ppm: options.tolerance_ppm,
        row_pairing: sides.row_pairing,
        findings,
        is_pmf_cost,
        scenarios,
        refused,
        allowed_differences: options.allowed_differences.clone(),
        baseline: sides.old,
    })
}

/// Compares each of the run's scenarios, and finds the baseline scenarios that have no counterpart.
fn compare_scenarios(
    sides: &Sides<'_>,
    allowed_differences: &[AllowedDifference],
    is_pmf_cost: bool,
) -> (Vec<ComparedScenario>, Vec<Refused>) {
    let mut scenarios = Vec::new();
    let mut refused = Vec::new();
    // The baseline scenarios that were compared, and those that could not be compared, each with
    // the index of the refusal.
    let mut met = Vec::new();
    let mut missed = Vec::new();
    for scenario in &sides.new.run.scenarios {
        let before = baseline_scenario(&sides.old.run, scenario.key());
        let key = before.map(Scenario::key);
        match compare_scenario(sides, scenario, before, allowed_differences, is_pmf_cost) {
            Ok(compared) => {
                scenarios.push(compared);
                met.extend(key);
            }
            Err(why) => {
                missed.extend(key.map(|key| (key, refused.len())));
                refused.push(Refused::of(scenario, why.to_string(), false));
            }
        }
    }
    let lost = sides
        .old
        .run
        .scenarios
        .iter()
        .filter(|scenario| has_figures(scenario) && !met.contains(&scenario.key()));
    for scenario in lost {
        match missed.iter().find(|(key, _)| *key == scenario.key()) {
            Some((_, index)) => refused[*index].in_baseline = true,
            None => {
                let mut others = sides.new.run.scenarios.iter();
                let has_other_method = others.any(|other| other.id == scenario.id);
                let how = if has_other_method {
                    " with this method"
                } else {
                    ""
                };
                let why = format!("the run does not have this scenario{how}");
                refused.push(Refused::of(scenario, why, true));
            }
        }
    }
    (scenarios, refused)
}

/// Compares a scenario with `before`, the baseline's, or returns the reason why it cannot.
fn compare_scenario(
    sides: &Sides<'_>,
    new: &Scenario,
    before: Option<&Scenario>,
    allowed_differences: &[AllowedDifference],
    is_pmf_cost: bool,
) -> Result<ComparedScenario, Incomparable> {
    let old = before.ok_or(Incomparable::NotInBaseline)?;
    let both = [(sides.new, Some(new)), (&sides.old, Some(old))];
    match refusal(both, allowed_differences) {
        Some(why) => Err(Incomparable::Conditions(why)),
        None if is_pmf_cost && new.id.has_queue() => Err(Incomparable::Queue),
        None => compare_figures(sides, new, old).map_err(|reason| match reason {
            Incomparable::NoFigure(_) if is_pmf_cost => Incomparable::NoCost,
            reason => reason,
        }),
    }
}
