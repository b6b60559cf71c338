//! Comparisons of points.

use psci_bench::model::{Confidence, How, Kind, Measure, Point, Variant};
use psci_bench::plan::ScenarioId;

use super::support::{compared, found, sentences, try_compare};
use crate::report::analysis::compare::Judged;
use crate::report::analysis::compare::Outcome::{Same, Worse};
use crate::report::analysis::made_up::{point, with_points};
use crate::report::log::LoggedRun;

/// Loops of two CPUs.
fn loops(per: [u32; 2], samples: &[u64]) -> LoggedRun {
    let point = |(cpu, per)| Point {
        per,
        ..point(cpu, Variant::PsciVersion, None, samples)
    };
    let points = (0..).zip(per).map(point).collect();
    with_points(ScenarioId::NullCall, points)
}

const LOOPS: [u64; 6] = [1000, 1001, 1002, 1003, 1004, 1005];

#[test]
fn points_are_compared_per_operation() {
    let old = loops([256, 256], &LOOPS);
    let slow = compared(&loops([256, 256], &LOOPS.map(|it| it * 2)), &old);
    let text = "Calls to the firmware that do nothing: 2 of 2 points take more, by up to +100.00 \
                %: alone.psci_version.ticks.";
    let changed = found(&slow, Kind::Changed, &[text]);
    assert_eq!(changed.finding.confidence, Confidence::Intervals);
    let change = &slow.scenarios[0].changes()[0];
    assert_eq!((change.old.figure, change.new.figure), (62.625, 125.25));
    assert_eq!(slow.regressions().count(), 2);
    found(
        &compared(&old, &old),
        Kind::Unchanged,
        &["2 points unchanged."],
    );
    let single = compared(&old, &loops([256, 256], &[500]));
    assert_eq!(single.scenarios[0].changes()[0].outcome, Worse);
    found(
        &single,
        Kind::NotTold,
        &["2 of 2 points were weighed against no noise"],
    );
    let changed = found(&single, Kind::Changed, &["take more"]);
    assert_eq!(changed.finding.confidence, Confidence::Figures);
}

#[test]
fn points_of_another_question_are_not_compared() {
    let new = loops([256, 256], &LOOPS);
    let error = try_compare(&new, &loops([512, 512], &LOOPS), "").expect_err("another batch");
    let part = "batch= is 256 operations, and 512 operations in the baseline";
    assert!(error.to_string().contains(part), "{error}");
    // Of one point alone.
    let comparison = compared(&new, &loops([256, 512], &LOOPS));
    let own = &comparison.scenarios[0];
    assert_eq!((own.added_points, own.lacks.len()), (1, 1));
    found(
        &comparison,
        Kind::NotTold,
        &["1 point of the run and 1 point of the baseline are of"],
    );
    assert!(comparison.lacks()[0].starts_with("1 point of the baseline"));
    let with = try_compare(&new, &loops([256, 512], &LOOPS), "cpus").expect("comparable");
    assert!(with.is_complete());

    let timers = |period, footprint, duration| {
        let points = vec![point(0, Variant::Idle, None, &[5, 6])];
        let mut run = with_points(ScenarioId::TimerLatency, points);
        let timer = &mut run.run.plan.as_mut().expect("a plan").timer;
        (timer.period, timer.footprint, timer.duration) = (period, footprint, duration);
        run
    };
    for (old, part) in [
        (timers(1000, 4096, 60), ""),
        (
            timers(100, 4096, 1),
            "period= is 1000 us, and 100 us in the baseline",
        ),
        (
            timers(1000, 8192, 1),
            "footprint= is 4096 bytes, and 8192 bytes in",
        ),
    ] {
        let error = try_compare(&timers(1000, 4096, 1), &old, "").err();
        let error = error.map_or(String::new(), |it| it.to_string());
        assert!(
            error.contains(part) && error.is_empty() == part.is_empty(),
            "{error}"
        );
    }
}

#[test]
fn points_of_a_queue_are_compared_by_order() {
    let sweep = |medians: &[u64]| {
        let point = |(cpu, median): (u16, &u64)| Point {
            how: How::All,
            measure: Measure::Powerdown,
            ..point(cpu, Variant::Core, Some(4), &[*median; 6])
        };
        let points = (0..).zip(medians).map(point).collect();
        with_points(ScenarioId::ContendSweep, points)
    };
    let old = sweep(&[1000, 2000, 3000, 4000]);
    let order = compared(&sweep(&[4000, 1000, 2000, 3000]), &old);
    let own = &order.scenarios[0];
    assert_eq!((own.judged, own.by_cpu.len()), (Judged::Order, 0));
    let all = own
        .by_order
        .iter()
        .map(|it| (it.cpu, it.old_cpu, it.outcome));
    let expected = [(1, 0, Same), (2, 1, Same), (3, 2, Same), (0, 3, Same)];
    assert_eq!(all.collect::<Vec<_>>(), expected);
    // Three CPUs in the queue are another question.
    let error = try_compare(&sweep(&[1000, 2000, 3000]), &old, "").expect_err("no pair");
    assert!(
        error
            .to_string()
            .contains("the two have no point in common"),
        "{error}"
    );
}

#[test]
fn counts_of_the_firmware_have_no_noise() {
    let states = |measure, median: u64| {
        let point = Point {
            measure,
            ..point(0, Variant::Serial, Some(2), &[median])
        };
        with_points(ScenarioId::IdleStates, vec![point])
    };
    for (measure, new, old, expected) in [
        (Measure::Count, 0, 1, Worse),
        (Measure::Count, 2, 1, Same),
        (Measure::Residency, 900, 100, Same),
    ] {
        let comparison = compared(&states(measure, new), &states(measure, old));
        assert_eq!(comparison.scenarios[0].changes()[0].outcome, expected);
        assert!(sentences(&comparison, Kind::NotTold).is_empty());
    }
}
