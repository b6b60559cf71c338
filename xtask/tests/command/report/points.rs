//! Points of scenarios outside TFTF's suite.

use run::measure::{Metric, Summary, Waker};
use run::model::{Conditions, Point, Run, Scenario, ScenarioKey, Spread, Status, Variant};
use run::plan::{Method, ScenarioId};

use super::{edited, written};

/// Adds a scenario with a point of each CPU.
fn add(run: &mut Run, id: ScenarioId, make: impl Fn(u16) -> Vec<Point>) {
    let mut scenario = Scenario::new(ScenarioKey {
        id,
        method: Method::Warm,
        helper: None,
    });
    scenario.status = Status::Passed;
    scenario.conditions = Some(Conditions {
        pmf: true,
        ..Conditions::default()
    });
    scenario.points = (0..4).flat_map(make).collect();
    run.scenarios.push(scenario);
}

/// Replaces the scenarios by three whose figures are `percent` of the usual ones.
pub fn of_points(run: &mut Run, percent: u64) {
    let figures = move |median: u64| {
        let median = median * percent / 100;
        Summary::of(&mut [median, median, median + 1])
    };
    run.scenarios.clear();
    add(run, ScenarioId::NullCall, |cpu| {
        vec![Point {
            per: 1024,
            figures: figures(214_025),
            ..Point::new(cpu, Variant::PsciVersion, Metric::Time)
        }]
    });
    add(run, ScenarioId::ContendSweep, |cpu| {
        let point = |x| Point {
            x: Some(x),
            figures: figures(1000 + 100 * x + 700 * u64::from(cpu)),
            spread: Some(Spread {
                first: 150,
                counts: vec![20, 70, 0, 9, 1],
            }),
            ..Point::new(cpu, Variant::Core, Metric::Powerdown)
        };
        [2, 3, 4].map(point).into()
    });
    add(run, ScenarioId::IdleStates, |cpu| {
        let point = |state, measure, ticks| Point {
            x: Some(state),
            figures: figures(ticks + u64::from(cpu)),
            waker: [Waker::OwnTimers, Waker::Frame][usize::from(state > 0x100_0000)],
            ..Point::new(cpu, Variant::Idle, measure)
        };
        vec![
            point(0x0001_0002, Metric::Powerdown, 5000),
            point(0x0001_0002, Metric::Wakeup, 700),
            point(0x0101_0022, Metric::Powerdown, 15_000),
            point(0x0101_0022, Metric::Wakeup, 3000),
        ]
    });
    add(run, ScenarioId::TimerLatency, |cpu| {
        vec![Point {
            figures: figures(2000),
            ..Point::new(cpu, Variant::Idle, Metric::Handler)
        }]
    });
}

/// Of a step that was left out there is no figure, and no zero.
#[test]
fn steps_without_samples_have_no_figures() {
    let report = edited(|run| {
        of_points(run, 100);
        let left_out = |x| Point {
            x: Some(x),
            ..Point::new(0, Variant::LeftOut, Metric::Powerdown)
        };
        run.scenarios[1].points.extend([5, 6, 7].map(left_out));
    });
    let rows = [
        ("text", "left_out  0    n/a"),
        ("csv", ",alone,left_out,5,ticks,1,0,,,,,,"),
    ];
    for (format, row) in rows {
        let made = written(&report, format);
        assert!(made.contains(row), "{row:?} is not in\n{made}");
    }
    for (format, absent) in [
        ("junit", "left_out.5.powerdown.median"),
        ("html", ", left_out<"),
    ] {
        assert!(!written(&report, format).contains(absent), "{format}");
    }
}

#[test]
fn every_format_has_points() {
    let mut report = edited(|run| of_points(run, 100));
    for (format, text) in [
        ("text", "one CPU alone (ns per operation)"),
        ("text", "(us; medians and p99 are lower ends of classes"),
        ("md", "(ns per operation)"),
        ("rst", "(ns per operation)"),
        (
            "csv",
            ",alone,psci_version,,ticks,1024,0,214025,214025,,214026,",
        ),
        ("json", "\"per\": 1024"),
        ("junit", "core0.alone.psci_version.ticks.median_ns"),
    ] {
        let made = written(&report, format);
        assert!(made.contains(text), "{text:?} is not in\n{made}");
    }
    // States of which no scenario of the suite tells.
    report.runs[0].run.scenarios.drain(..2);
    let tree = written(&report, "dt");
    assert_eq!(tree.matches("arm,psci-suspend-param").count(), 2, "{tree}");
    // 16 ns of 15,004 and of 3,004 ticks.
    for line in ["entry-latency-us = <241>;", "exit-latency-us = <49>;"] {
        assert!(tree.contains(line), "{line:?} is not in\n{tree}");
    }
    let (own, stopped) = tree.split_once("<0x01010022>;").expect("the state");
    assert!(stopped.contains("\tlocal-timer-stop;"), "{tree}");
    assert!(!own.contains("\tlocal-timer-stop;"), "{tree}");
    // A sweep's step is the worst case, and its conditions are said.
    let swept = edited(|run| {
        let points = run.scenarios.iter_mut().flat_map(|it| &mut it.points);
        points.for_each(|it| it.figures.max = 100_000);
    });
    let part = "Powerdown 1600.00 us: dirty_sweep (deepest, Bytes 0), CPU 0.0";
    assert!(written(&swept, "dt").contains(part));
}
