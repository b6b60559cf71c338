//! Merges several runs from one board into one table, matching CPUs by MPIDR.
//!
//! If every run has all of its samples, the samples are pooled and the statistics are computed from
//! the pool. Otherwise, the runs' figures are listed side by side. Figures are never treated as
//! samples, because a row in a parallel scenario is part of a single round.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use hardware::board::CpuIndex;
use itertools::Itertools as _;
use run::measure::Summary;
use run::model::{Cpu, Scenario, ScenarioKey};
use serde::Serialize;

use super::conditions::{MERGED, MERGED_RUNS, differences, is_ambiguous};
use super::figure::{Figure, FigureKey, by_cpu_and_key, figures};
use crate::log::{LoggedRun, Source};

/// Several runs from one board.
#[derive(Clone, Debug, Serialize)]
pub struct Merged {
    /// Each run's position in its input, in run order.
    pub(crate) sources: Vec<Source>,
    /// The board's CPUs.
    pub(crate) cpus: Vec<Cpu>,
    /// All scenarios found in at least one run.
    pub(crate) scenarios: Vec<MergedScenario>,
}

/// A scenario across several runs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MergedScenario {
    #[serde(flatten)]
    pub(crate) key: ScenarioKey,
    pub(crate) power_state: Option<u32>,
    /// One entry for each CPU and figure found in at least one run, sorted by CPU and then by step.
    pub(crate) figures: Vec<MergedFigure>,
}

/// One CPU's figure across several runs. Durations are in ticks.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MergedFigure {
    /// Index into [`Merged::cpus`].
    pub(crate) cpu: CpuIndex,
    #[serde(flatten)]
    pub(crate) key: FigureKey,
    /// The value in each run; None if the run lacks it.
    pub(crate) shown: Vec<Option<RunFigure>>,
    /// Statistics over the samples from all runs; None unless every run has all of its samples.
    pub(crate) pooled: Option<Summary>,
}

/// A figure in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RunFigure {
    /// The figure in the table, or a median.
    pub(crate) figure: u64,
    /// Statistics over the samples.
    pub(crate) summary: Option<Summary>,
    /// True if the figure was read from a line without a checksum.
    pub(crate) is_doubtful: bool,
}

/// Removes runs that are identical to an earlier run down to the last tick, and returns a sentence
/// about each of them. The samples must not be counted twice if a run is specified twice or if a
/// machine produces exactly the same run again.
pub fn take_repeats(runs: &mut Vec<LoggedRun>) -> Vec<String> {
    let mut repeats = Vec::new();
    for run in std::mem::take(runs) {
        let Some(first) = runs.iter().find(|it| is_repeat(&run, it)) else {
            runs.push(run);
            continue;
        };
        let (run, first) = (&run.source, &first.source);
        repeats.push(format!(
            "{} (run {}) and {} (run {}) are identical down to the last tick; counted once",
            run.input, run.place, first.input, first.place
        ));
    }
    repeats
}

/// Returns true if `run` is identical to `other` down to the last tick.
fn is_repeat(run: &LoggedRun, other: &LoggedRun) -> bool {
    let (own, others) = (&run.run.scenarios, &other.run.scenarios);
    !own.is_empty() && own == others && check(other, run).is_ok()
}

/// Merges `runs`, which must all have the same conditions as the first one.
pub fn merge(runs: &[LoggedRun]) -> Result<Merged> {
    let mut cpus = Vec::new();
    if let Some((first, others)) = runs.split_first() {
        others.iter().try_for_each(|other| check(first, other))?;
        cpus.clone_from(&first.run.cpus);
    }
    let keys = runs.iter().flat_map(|run| &run.run.scenarios);
    let keys = keys.map(Scenario::key);
    Ok(Merged {
        sources: runs.iter().map(|run| run.source.clone()).collect(),
        cpus,
        scenarios: keys.unique().map(|key| merged(runs, key)).collect(),
    })
}

/// Rejects runs whose conditions differ.
pub(super) fn check(a: &LoggedRun, b: &LoggedRun) -> Result<()> {
    if let Some(run) = [a, b].into_iter().find(|it| is_ambiguous(&it.run)) {
        let input = &run.source.input;
        bail!(
            "cannot merge {input}: several rows have the same cluster and core, so their CPUs are \
             unknown; report it separately"
        );
    }
    let of_runs = differences(MERGED_RUNS, [(a, None), (b, None)], true);
    let of_runs = of_runs.map(|it| (String::new(), it));
    let is_measured = |it: &&Scenario| !it.cells.is_empty();
    let scenarios = a.run.scenarios.iter().filter(is_measured);
    let of_scenarios = scenarios.flat_map(|it| {
        let other = counterpart(it, b).filter(is_measured).into_iter();
        let sides = other.map(move |other| [(a, Some(it)), (b, Some(other))]);
        let all = sides.flat_map(|sides| differences(MERGED, sides, true));
        all.map(move |difference| (format!(" for {}", it.id), difference))
    });
    let Some((of, (condition, [x, y]))) = of_runs.chain(of_scenarios).next() else {
        return Ok(());
    };
    let [a, b] = [a, b].map(|it| format!("{} (run {})", it.source.input, it.source.place));
    bail!(
        "cannot merge {a} and {b}: {}{of} is {x} in the first and {y} in the second; report them \
         separately",
        condition.name
    )
}

/// Returns the scenario in `run` that goes into the same table as `scenario`, or that would if the
/// CPUs had been woken by the same interrupt. Scenarios with different helpers are listed
/// separately.
fn counterpart<'r>(scenario: &Scenario, run: &'r LoggedRun) -> Option<&'r Scenario> {
    let own = scenario.key();
    let is_woken_otherwise = |it: &&Scenario| {
        (it.id, it.method) == (own.id, own.method) && it.helper.is_some() != own.helper.is_some()
    };
    let others = || run.run.scenarios.iter().find(is_woken_otherwise);
    run.run.scenario(own).or_else(others)
}

fn merged(runs: &[LoggedRun], key: ScenarioKey) -> MergedScenario {
    let scenarios: Vec<Option<&Scenario>> = runs.iter().map(|run| run.run.scenario(key)).collect();
    let each = runs.iter().zip(&scenarios).map(|(run, scenario)| {
        let mut all = scenario.map_or_else(Vec::new, |it| figures(run, it));
        all.retain(|it| it.shown.is_some());
        all
    });
    let each: Vec<Vec<Figure<'_>>> = each.collect();
    let order = each.iter().flatten().map(|it| (it.cpu, it.key)).unique();
    // A CPU that is only in a later run is inserted in board order.
    let order = order.sorted_by_key(|(cpu, key)| match key.is_of_step() {
        true => (true, CpuIndex::default()),
        false => (false, *cpu),
    });
    let each: Vec<BTreeMap<_, _>> = each.iter().cloned().map(by_cpu_and_key).collect();
    let figures = order.map(|(cpu, key)| {
        let own: Vec<Option<&Figure<'_>>> = each.iter().map(|it| it.get(&(cpu, key))).collect();
        let of_scenario = own.iter().zip(&scenarios).filter(|it| it.1.is_some());
        let shown = |it: &Figure<'_>| RunFigure {
            figure: it
                .shown
                .expect("figures that are not shown are filtered out above"),
            summary: it.summary.copied(),
            is_doubtful: it.is_doubtful,
        };
        MergedFigure {
            cpu,
            key,
            pooled: pooled(key, of_scenario.map(|it| *it.0)),
            shown: own.iter().map(|it| it.map(shown)).collect(),
        }
    });
    let mut conditions = scenarios.iter().flatten().map(|it| it.conditions.as_ref());
    MergedScenario {
        key,
        power_state: conditions.find_map(|it| it?.power_state),
        figures: figures.collect(),
    }
}

/// Returns statistics over the samples of all figures; None if any figure lacks samples.
fn pooled<'f>(
    key: FigureKey,
    figures: impl Iterator<Item = Option<&'f Figure<'f>>>,
) -> Option<Summary> {
    let mut all = Vec::new();
    for figure in figures {
        let cell = figure?.cell;
        if cell.samples.is_empty() || u32::try_from(cell.samples.len()) != Ok(cell.valid()) {
            return None;
        }
        for sample in cell.samples.iter() {
            all.push(sample.instants.metric(key.suite_metric()?)?);
        }
    }
    Some(Summary::of(&mut all))
}

#[cfg(test)]
mod tests {
    use run::measure::Metric;
    use run::model::Variant;
    use run::plan::Plan;
    use run::plan::ScenarioId::{CpuOn, MaskedTime, NullCall, TimerLatency, WakeRace};

    use super::*;
    use crate::analysis::edits::{self, RunEdit, edited};
    use crate::analysis::made_up::{cell_of, step, suite, with_steps};

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
            let error = merge(&[suite(), edited(*edit)]).err();
            let error = error.map(|it| it.to_string()).unwrap_or_default();
            let name = format!("a.log (run 1) and a.log (run 1): {condition} is ");
            assert_eq!(error.is_empty(), condition.is_empty(), "{error}");
            assert!(error.is_empty() || error.contains(&name), "{error}");
        }
        let alike = [edits::equal_labels as RunEdit; 2].map(edited);
        let refusal = merge(&alike).expect_err("ambiguous").to_string();
        assert!(refusal.contains("so their CPUs are unknown"));
    }

    #[test]
    fn boot_arguments_that_a_scenario_uses_must_be_equal() {
        let of = |id, edit: fn(&mut Plan)| {
            let cell = cell_of(0, step(Variant::Idle, None), Metric::Time, &[1, 2]);
            let mut run = with_steps(id, vec![cell]);
            let plan = run.run.plan.as_mut().expect("a plan");
            plan.timer.footprint = 4096;
            edit(plan);
            run
        };
        let edits: [(_, fn(&mut Plan), _); 5] = [
            (
                TimerLatency,
                |plan| plan.timer.period = 100,
                "period= for timer_latency is 1000 us in the first and 100 us in the second",
            ),
            (
                TimerLatency,
                |plan| plan.timer.footprint = 8192,
                "footprint= for timer_latency is 4096 bytes in the first and 8192 bytes in",
            ),
            (
                CpuOn,
                |plan| plan.cpu_on_after = 7,
                "cpu-on-after= for cpu_on is 1000 us in the first and 7 us in the second",
            ),
            (
                MaskedTime,
                |plan| plan.offsets = 64,
                "offsets= for masked_time is 32 in the first and 64 in the second",
            ),
            (
                WakeRace,
                |plan| plan.repeats = 3,
                "repeats= for wake_race is 1 in the first and 3 in the second",
            ),
        ];
        for (id, edit, part) in edits {
            assert!(merge(&[of(id, |_| ()), of(id, |_| ())]).is_ok());
            let refusal = merge(&[of(id, |_| ()), of(id, edit)]).expect_err(part);
            assert!(refusal.to_string().contains(part), "{refusal}");
            assert!(merge(&[of(NullCall, |_| ()), of(NullCall, edit)]).is_ok());
        }
    }

    #[test]
    fn samples_are_pooled_if_all_are_there() {
        let merged = merge(&[suite(), suite(), suite()]).expect("one board");
        assert_eq!((merged.scenarios.len(), merged.cpus.len()), (6, 4));
        let first = &merged.scenarios[0].figures[0];
        let pooled = first.pooled.map(|it| it.n);
        assert_eq!(
            (first.cpu.place(), first.shown.len(), pooled),
            (0, 3, Some(6))
        );
        let mut lossy = suite();
        let samples = &mut lossy.run.scenarios[0].cells[0].samples;
        *samples = samples.iter().skip(1).collect();
        let merged = merge(&[suite(), lossy]).expect("one board");
        assert_eq!(merged.scenarios[0].figures[0].pooled, None);
    }

    #[test]
    fn figures_stand_in_the_boards_order_and_some_runs_lack_them() {
        let mut short = edited(edits::three_scenarios);
        short.run.scenarios[0].cells.remove(1);
        let mut lines = edited(edits::line);
        lines.integrity.records = None;
        let merged = merge(&[short, lines]).expect("one board");
        let [first, second] = [&merged.scenarios[0].figures, &merged.scenarios[1].figures];
        assert!(first.is_sorted_by_key(|it| it.cpu) && first.iter().any(|it| it.cpu == 1.into()));
        let of_1 = first
            .iter()
            .find(|it| it.cpu == 1.into())
            .expect("in the second");
        assert!(of_1.shown[0].is_none() && of_1.shown[1].is_some());
        let mut lone = merged.scenarios[5].figures.iter();
        assert!(lone.all(|it| it.shown[0].is_none()));
        let marks = second[0].shown.iter().flatten();
        assert!(marks.map(|it| it.is_doubtful).eq([false, true]));
    }

    #[test]
    fn repeated_run_counts_once() {
        let mut later = suite();
        later.source.place = 2;
        let mut runs = vec![suite(), edited(edits::line), later];
        let repeats = take_repeats(&mut runs);
        let [repeat] = &repeats[..] else {
            panic!("{repeats:?}");
        };
        assert!(repeat.contains("(run 2) and"), "{repeat}");
        assert_eq!(runs.len(), 2);
    }
}
