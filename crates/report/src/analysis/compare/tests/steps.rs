//! Comparisons of steps.

use suite::measure::Metric;
use suite::model::{CellStep, Evidence, FindingKind};
use suite::plan::{ActiveCpus, ScenarioId, Variant};

use super::support::{compared, found, sentences, try_compare};
use crate::analysis::compare::ChangeOutcome::{Noise, Same, Worse};
use crate::analysis::compare::{CHANGED, ChangeList};
use crate::analysis::findings::UNCHANGED;
use crate::analysis::synthetic::{cell_of, step, with_steps};
use crate::log::LoggedRun;

/// Returns a run with loops of so many operations on two CPUs.
fn loops(operations: [u32; 2], samples: &[u64]) -> LoggedRun {
    let cells = (0..).zip(operations).map(|(cpu, operations)| {
        let step = CellStep {
            operations,
            ..CellStep::with_variant(Variant::new("psci_version"))
        };
        cell_of(cpu, step, Metric::Time, samples)
    });
    with_steps(ScenarioId::named("null_call"), cells.collect())
}

const LOOPS: [u64; 6] = [1000, 1001, 1002, 1003, 1004, 1005];

#[test]
fn steps_are_compared_per_operation() {
    let old = loops([256, 256], &LOOPS);
    let slow = compared(&loops([256, 256], &LOOPS.map(|ticks| ticks * 2)), &old);
    let text = "Calls to the firmware that do nothing: Time takes longer in 2 of 2 cells (+100.00 \
                %): alone.psci_version.ticks.";
    let changed = found(&slow, CHANGED, &[text]);
    assert_eq!(changed.finding.evidence, Evidence::Intervals);
    let change = &slow.scenarios[0].changes()[0];
    assert_eq!((change.old.figure, change.new.figure), (62.625, 125.25));
    let same = compared(&old, &old);
    found(&same, UNCHANGED, &["Time unchanged"]);
    let single = compared(&old, &loops([256, 256], &[500]));
    assert_eq!(single.regressions().count(), 2);
    let part = "not compared with the noise, because one side does not show the spread of their \
                samples: 2 of 2 in";
    found(&single, FindingKind::NOT_TOLD, &[part]);
    let changed = found(&single, CHANGED, &["takes longer"]);
    assert_eq!(changed.finding.evidence, Evidence::Figures);
}

/// Asserts that the comparison is refused with a reason that contains `part`, or succeeds if `part`
/// is empty.
fn assert_refused(new: &LoggedRun, old: &LoggedRun, part: &str) {
    let text = match try_compare(new, old, "") {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert!(text.contains(part) && text.is_empty() == part.is_empty());
}

#[test]
fn steps_of_another_question_are_not_compared() {
    let new = loops([256, 256], &LOOPS);
    let part = "batch= is 256 operations, but 512 operations in the baseline";
    assert_refused(&new, &loops([512, 512], &LOOPS), part);
    // Only one step is compared.
    let comparison = compared(&new, &loops([256, 512], &LOOPS));
    let scenario = &comparison.scenarios[0];
    assert_eq!((scenario.by_cpu.len(), scenario.lacks.len()), (1, 1));
    assert!(comparison.lacks()[0].starts_with("1 figure for 1 CPU in the baseline"));
    let allowed = try_compare(&new, &loops([256, 512], &LOOPS), "cpus").expect("comparable");
    assert!(allowed.is_complete());

    let timers = |period, footprint, duration| {
        let idle = cell_of(0, step(Variant::new("idle"), None), Metric::Time, &[5, 6]);
        let mut logged = with_steps(ScenarioId::named("timer_latency"), vec![idle]);
        let plan = logged.run.plan.as_mut().expect("a plan");
        (plan.period, plan.footprint, plan.duration) = (period, footprint, duration);
        logged
    };
    let new = timers(1000, 4096, 1);
    assert_refused(&new, &timers(1000, 4096, 60), "");
    let part = "period= is 1000, but 100 in the baseline";
    assert_refused(&new, &timers(100, 4096, 1), part);
    let part = "footprint= is 4K, but 8K in";
    assert_refused(&new, &timers(1000, 8192, 1), part);

    let cpu_on = |cpu_on_mode| {
        let joins = cell_of(1, step(Variant::new("joins"), None), Metric::Time, &[5, 6]);
        let mut logged = with_steps(ScenarioId::named("cpu_on"), vec![joins]);
        logged.run.plan.as_mut().expect("a plan").cpu_on_after = cpu_on_mode;
        logged
    };
    let part = "cpu-on-after= is 1000, but 0 in the baseline";
    assert_refused(&cpu_on(1000), &cpu_on(0), part);
}

#[test]
fn interrupts_at_other_offsets_are_not_compared() {
    let interrupted_run = |id, offsets, repeat_count| {
        let cell = cell_of(
            0,
            step(Variant::new("core_woken"), Some(7)),
            Metric::Wake,
            &[5, 6],
        );
        let mut logged = with_steps(id, vec![cell]);
        let plan = logged.run.plan.as_mut().expect("a plan");
        (plan.offsets, plan.repeats) = (offsets, repeat_count);
        logged
    };
    let offsets = "offsets= is 64, but 32 in the baseline";
    for (id, offsets_and_repeats, part) in [
        (ScenarioId::named("wake_race"), (32, 1), ""),
        (ScenarioId::named("wake_race"), (64, 1), offsets),
        (
            ScenarioId::named("wake_race"),
            (32, 3),
            "repeats= is 3, but 1 in the baseline",
        ),
        (ScenarioId::named("masked_time"), (64, 1), offsets),
        // Only `wake_race` repeats an offset.
        (ScenarioId::named("masked_time"), (32, 3), ""),
    ] {
        let (offsets, repeats) = offsets_and_repeats;
        let new = interrupted_run(id, offsets, repeats);
        assert_refused(&new, &interrupted_run(id, 32, 1), part);
    }
}

#[test]
fn outcomes_are_compared_regardless_of_their_offsets() {
    let race = |first_value, last_value, wake_values: &[u64]| {
        let woken = step(Variant::new("core_woken"), Some(first_value));
        let mut cell = cell_of(0, woken, Metric::Wake, wake_values);
        let until = cell_of(0, woken, Metric::LastOffset, &[last_value]);
        cell.series.extend(until.series);
        with_steps(ScenarioId::named("wake_race"), vec![cell])
    };
    let old = race(7, 90, &[10_000; 6]);
    let same = compared(&race(8, 1000, &[10_000; 6]), &old);
    assert!(same.is_complete());
    let changes = same.scenarios[0].changes();
    let outcomes = changes
        .iter()
        .map(|change| (change.key.name(), change.outcome));
    let expected = ("alone.core_woken.wake".to_owned(), Same);
    assert_eq!(outcomes.collect::<Vec<_>>(), [expected]);
    let slower = compared(&race(8, 90, &[20_000; 6]), &old);
    assert_eq!(slower.scenarios[0].changes()[0].outcome, Worse);
}

/// If only one run calls a function, the other functions are still compared.
#[test]
fn rows_of_functions_that_only_one_run_calls_are_missing() {
    let masked_run = |functions: &[u64]| {
        let cells = functions.iter().map(|function| {
            let call = step(Variant::new("call"), Some(*function));
            cell_of(0, call, Metric::Time, &[5, 6])
        });
        with_steps(ScenarioId::named("masked_time"), cells.collect())
    };
    let [more, fewer] = [&[0x8200_0042, 0x8200_0043][..], &[0x8200_0042]].map(masked_run);
    let comparison = compared(&fewer, &more);
    assert_eq!(comparison.scenarios[0].by_cpu.len(), 1);
    assert!(comparison.lacks()[0].starts_with("1 figure for 1 CPU in the baseline"));
    assert!(compared(&more, &fewer).is_complete());
}

#[test]
fn timers_medians_are_anywhere_in_their_bins() {
    let idle_run = |metric, median| {
        let mut cell = cell_of(0, step(Variant::new("idle"), None), metric, &[median; 9]);
        cell.series[0].summary.max = 5000;
        with_steps(ScenarioId::named("timer_latency"), vec![cell])
    };
    // Bins that are 64 ticks wide start at 1024, 1088 and 1152.
    for (metric, new, expected) in [
        (Metric::Handler, 1088, Noise),
        (Metric::Handler, 1152, Worse),
        (Metric::Powerdown, 1088, Worse),
    ] {
        let comparison = compared(&idle_run(metric, new), &idle_run(metric, 1024));
        assert_eq!(comparison.scenarios[0].changes()[0].outcome, expected);
    }
}

#[test]
fn steps_of_a_queue_are_compared_by_order() {
    let sweep = |medians: &[u64]| {
        let step = CellStep {
            cpus: ActiveCpus::All,
            ..step(Variant::new("core"), Some(4))
        };
        let cells = (0..)
            .zip(medians)
            .map(|(cpu, median)| cell_of(cpu, step, Metric::Powerdown, &[*median; 6]));
        with_steps(ScenarioId::named("contend_sweep"), cells.collect())
    };
    let old = sweep(&[1000, 2000, 3000, 4000]);
    let order = compared(&sweep(&[4000, 1000, 2000, 3000]), &old);
    let scenario = &order.scenarios[0];
    assert_eq!(
        (scenario.judged_by, scenario.by_cpu.len()),
        (ChangeList::Order, 0)
    );
    let changes = scenario
        .by_order
        .iter()
        .map(|change| (change.cpu.index(), change.old_cpu.index(), change.outcome));
    let expected = [(1, 0, Same), (2, 1, Same), (3, 2, Same), (0, 3, Same)];
    assert_eq!(changes.collect::<Vec<_>>(), expected);
    // With three CPUs in the queue, the figures have a different meaning.
    let part = "the two runs have no figures in common";
    assert_refused(&sweep(&[1000, 2000, 3000]), &old, part);
}

#[test]
fn counts_of_the_firmware_have_no_noise() {
    let states = |metric, median: u64| {
        let cell = cell_of(0, step(Variant::new("serial"), Some(2)), metric, &[median]);
        with_steps(ScenarioId::named("idle_states"), vec![cell])
    };
    let count = Metric::Count;
    let residency = Metric::Residency;
    for (metric, new, old, expected) in [
        (count, 0, 1, Worse),
        (count, 2, 1, Same),
        (residency, 900, 100, Same),
    ] {
        let comparison = compared(&states(metric, new), &states(metric, old));
        assert_eq!(comparison.scenarios[0].changes()[0].outcome, expected);
        assert!(sentences(&comparison, FindingKind::NOT_TOLD).is_empty());
    }
}
