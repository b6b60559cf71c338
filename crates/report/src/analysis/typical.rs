//! Composes a representative run from several runs on one board, scenario by scenario.

use anyhow::{Result, bail};
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::Scenario;

use super::conditions::{COMBINED, COMBINED_RUNS, differences, is_ambiguous};
use crate::log::LoggedRun;

/// Returns a run composed of scenarios from all the runs. Each scenario is copied from the run in
/// which its longest figure is the median across all runs, so it is a single complete measurement,
/// not a mixture of several.
///
/// # Errors
/// Returns an error if the runs differ in their conditions or scenarios, or if one is incomplete.
///
/// # Panics
/// Panics if `runs` is empty.
pub fn typical(runs: &[LoggedRun]) -> Result<LoggedRun> {
    let (first, others) = runs.split_first().expect("at least one run");
    let mut typical = first.clone();
    if others.is_empty() {
        return Ok(typical);
    }
    others.iter().try_for_each(|other| check(first, other))?;
    let keys = runs
        .iter()
        .flat_map(|logged| &logged.run.scenarios)
        .map(Scenario::key)
        .unique();
    for key in keys {
        if let Some(logged) = runs
            .iter()
            .find(|logged| logged.run.scenario(key).is_none())
        {
            bail!(
                "{}: lacks {}, which another run has",
                logged.source.input,
                key.id
            );
        }
    }
    for scenario in &mut typical.run.scenarios {
        let key = scenario.key();
        let sorted = runs
            .iter()
            .filter_map(|logged| logged.run.scenario(key))
            .sorted_by_key(|candidate| longest(candidate))
            .collect_vec();
        *scenario = sorted[(sorted.len() - 1) / 2].clone();
    }
    if let Some(incomplete) = runs.iter().find(|logged| !logged.is_complete()) {
        bail!(
            "{}: incomplete, so it cannot represent other runs",
            incomplete.source.input
        );
    }
    let inputs = runs.iter().map(|logged| logged.source.input.as_str());
    typical.source.input = inputs.unique().join(", ");
    Ok(typical)
}

/// Returns the longest Powerdown or Latency figure.
fn longest(scenario: &Scenario) -> Option<u64> {
    scenario
        .suite_cells()
        .iter()
        .filter_map(|cell| {
            cell.figure(Metric::Powerdown)
                .or(cell.figure(Metric::Latency))
        })
        .max()
}

/// Rejects runs whose conditions differ.
fn check(first: &LoggedRun, second: &LoggedRun) -> Result<()> {
    if let Some(logged) = [first, second]
        .into_iter()
        .find(|logged| is_ambiguous(&logged.run))
    {
        let input = &logged.source.input;
        bail!(
            "cannot combine {input}: several rows have the same cluster and core, so their CPUs are \
             unknown; report it separately"
        );
    }
    let run_differences = differences(COMBINED_RUNS, [(first, None), (second, None)], true)
        .map(|difference| (String::new(), difference));
    let is_measured = |scenario: &&Scenario| !scenario.cells.is_empty();
    let measured = first.run.scenarios.iter().filter(is_measured);
    let scenario_differences = measured.flat_map(|scenario| {
        counterpart(scenario, second)
            .filter(is_measured)
            .into_iter()
            .map(move |other| [(first, Some(scenario)), (second, Some(other))])
            .flat_map(|sides| differences(COMBINED, sides, true))
            .map(move |difference| (format!(" for {}", scenario.id), difference))
    });
    let Some((scope, difference)) = run_differences.chain(scenario_differences).next() else {
        return Ok(());
    };
    let name = difference.name;
    let [one, other] = difference.values;
    let [first_name, second_name] = [first, second]
        .map(|logged| format!("{} (run {})", logged.source.input, logged.source.run_number));
    bail!(
        "cannot combine {first_name} and {second_name}: {name}{scope} is {one} in the first and \
         {other} in the second; report them separately"
    )
}

/// Returns the scenario in `logged` that corresponds to `scenario`, or that would if the CPUs had
/// been woken by the same interrupt. Scenarios with different helpers are listed separately.
fn counterpart<'r>(scenario: &Scenario, logged: &'r LoggedRun) -> Option<&'r Scenario> {
    let is_woken_differently = |other: &&Scenario| {
        (other.id, other.method) == (scenario.id, scenario.method)
            && other.helper.is_some() != scenario.helper.is_some()
    };
    let other_scenario = || logged.run.scenarios.iter().find(is_woken_differently);
    logged.run.scenario(scenario.key()).or_else(other_scenario)
}

#[cfg(test)]
mod tests {
    use suite::plan::{Plan, ScenarioId, Variant};

    use super::*;
    use crate::analysis::edits::{self, RunEdit, edited};
    use crate::analysis::synthetic::{cell_of, step, suite, with_steps};

    /// Edits to the second run, and the condition that the error reports.
    const REFUSED: &[(RunEdit, &str)] = &[
        (edits::nothing, ""),
        (edits::no_head, "the board"),
        (edits::clock, "the counter frequency in Hz"),
        (edits::no_facts, "the counter frequency in Hz"),
        (edits::one_mpidr, "the list of CPUs"),
        (edits::firmware, "the firmware"),
        (edits::level, "the exception level"),
        (edits::warm, "the method"),
        (
            edits::no_plan,
            "the wake-up pattern for test_rt_instr_susp_deep_parallel",
        ),
        (
            edits::state,
            "power_state for test_rt_instr_susp_deep_parallel",
        ),
        (
            edits::wake_source,
            "the wake-up source for test_rt_instr_susp_deep_parallel",
        ),
        (
            edits::callers_figures,
            "the source of the figures for test_rt_instr_susp_deep_parallel",
        ),
    ];

    #[test]
    fn runs_of_different_conditions_are_refused_by_name() {
        for (edit, condition) in REFUSED {
            let refusal = check(&suite(), &edited(*edit)).err();
            let text = refusal.map_or_else(String::new, |refusal| refusal.to_string());
            let name = format!("a.log (run 1) and a.log (run 1): {condition} is ");
            assert_eq!(text.is_empty(), condition.is_empty(), "{text}");
            assert!(text.is_empty() || text.contains(&name), "{text}");
        }
        let alike = edited(edits::equal_labels);
        let refusal = check(&alike, &alike).expect_err("ambiguous").to_string();
        assert!(refusal.contains("so their CPUs are unknown"));
    }

    #[test]
    fn boot_arguments_that_a_scenario_uses_must_be_equal() {
        let planned = |id, edit: fn(&mut Plan)| {
            let cell = cell_of(0, step(Variant::new("idle"), None), Metric::Time, &[1, 2]);
            let mut logged = with_steps(id, vec![cell]);
            let plan = logged.run.plan.as_mut().expect("a plan");
            plan.footprint = 4096;
            edit(plan);
            logged
        };
        let edits: [(_, fn(&mut Plan), _); 5] = [
            (
                ScenarioId::named("timer_latency"),
                |plan| plan.period = 100,
                "period= for timer_latency is 1000 in the first and 100 in the second",
            ),
            (
                ScenarioId::named("timer_latency"),
                |plan| plan.footprint = 8192,
                "footprint= for timer_latency is 4K in the first and 8K in",
            ),
            (
                ScenarioId::named("cpu_on"),
                |plan| plan.cpu_on_after = 7,
                "cpu-on-after= for cpu_on is 1000 in the first and 7 in the second",
            ),
            (
                ScenarioId::named("masked_time"),
                |plan| plan.offsets = 64,
                "offsets= for masked_time is 32 in the first and 64 in the second",
            ),
            (
                ScenarioId::named("wake_race"),
                |plan| plan.repeats = 3,
                "repeats= for wake_race is 1 in the first and 3 in the second",
            ),
        ];
        for (id, edit, part) in edits {
            assert!(check(&planned(id, |_| ()), &planned(id, |_| ())).is_ok());
            let refusal = check(&planned(id, |_| ()), &planned(id, edit)).expect_err(part);
            assert!(refusal.to_string().contains(part), "{refusal}");
            assert!(
                check(
                    &planned(ScenarioId::named("null_call"), |_| ()),
                    &planned(ScenarioId::named("null_call"), edit)
                )
                .is_ok()
            );
        }
    }
}
