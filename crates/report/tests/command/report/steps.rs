//! Steps in scenarios outside the TFTF suite.

use suite::measure::{Metric, Summary};
use suite::model::{
    BinCounts, Cell, CellStep, Conditions, Counts, Run, Scenario, ScenarioKey, Series, Skip,
    Status, WakeSource,
};
use suite::plan::{Method, ScenarioId, Variant};

use super::{edited, written};

/// Adds a scenario with cells for each CPU.
fn add(run: &mut Run, id: ScenarioId, make: impl Fn(u16) -> Vec<Cell>) {
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
    scenario.cells = (0..4).flat_map(make).collect();
    run.scenarios.push(scenario);
}

fn step(variant: Variant, x: Option<u64>) -> CellStep {
    CellStep {
        value: x,
        ..CellStep::of(variant)
    }
}

fn cell(cpu: u16, step: CellStep, series: Vec<Series>) -> Cell {
    Cell {
        counts: Some(Counts {
            valid: 3,
            ..Counts::default()
        }),
        series,
        ..Cell::new(cpu.into(), step)
    }
}

/// Replaces the scenarios with four whose figures are `percent` percent of the usual ones.
pub fn use_steps(run: &mut Run, percent: u64) {
    let series = move |metric, median: u64| {
        let median = median * percent / 100;
        Series::of(metric, Summary::of(&mut [median, median, median + 1]))
    };
    run.scenarios.clear();
    add(run, ScenarioId::named("null_call"), |cpu| {
        let step = CellStep {
            operations: 1024,
            ..step(Variant::new("psci_version"), None)
        };
        vec![cell(cpu, step, vec![series(Metric::Time, 214_025)])]
    });
    add(run, ScenarioId::named("contend_sweep"), |cpu| {
        let cell_of_count = |step_value| {
            let ticks = 1000 + 100 * step_value + 700 * u64::from(cpu);
            let own = Series {
                histogram: Some(BinCounts {
                    first: 150,
                    counts: vec![20, 70, 0, 9, 1],
                }),
                ..series(Metric::Powerdown, ticks)
            };
            cell(cpu, step(Variant::new("core"), Some(step_value)), vec![own])
        };
        [2, 3, 4].map(cell_of_count).into()
    });
    add(run, ScenarioId::named("idle_states"), |cpu| {
        let cell_of_state = |state: u32, source, [powerdown, wakeup]: [u64; 2]| {
            let ticks = [(Metric::Powerdown, powerdown), (Metric::Wakeup, wakeup)];
            let own = ticks.map(|(metric, ticks)| series(metric, ticks + u64::from(cpu)));
            Cell {
                power_state: Some(state),
                wake_source: Some(source),
                ..cell(
                    cpu,
                    step(Variant::new("idle"), Some(state.into())),
                    own.into(),
                )
            }
        };
        vec![
            cell_of_state(0x0001_0002, WakeSource::OwnTimers, [5000, 700]),
            cell_of_state(0x0101_0022, WakeSource::Frame, [15_000, 3000]),
        ]
    });
    add(run, ScenarioId::named("timer_latency"), |cpu| {
        let own = series(Metric::Handler, 2000);
        vec![cell(cpu, step(Variant::new("idle"), None), vec![own])]
    });
}

/// A skipped step has no figure rather than a figure of zero.
#[test]
fn steps_without_samples_have_no_figures() {
    let report = edited(|run| {
        use_steps(run, 100);
        let left_out = |step_value| Cell {
            skipped: Some(Skip::TooFewCpus),
            series: vec![Series::new(Metric::Powerdown)],
            ..Cell::new(0.into(), step(Variant::PLAIN, Some(step_value)))
        };
        run.scenarios[1].cells.extend([5, 6, 7].map(left_out));
    });
    let rows = [
        ("text", "left_out  0    n/a"),
        ("csv", ",alone,left_out,5,ticks,1,0,,,,,,"),
    ];
    for (format, row) in rows {
        let made = written(&report, format);
        assert!(made.contains(row), "{row:?} is not in\n{made}");
    }
    for (format, absent) in [("junit", ".5.powerdown.median"), ("html", ", left_out<")] {
        assert!(!written(&report, format).contains(absent), "{format}");
    }
}

#[test]
fn every_format_has_steps() {
    let mut report = edited(|run| use_steps(run, 100));
    for (format, text) in [
        ("text", "one CPU alone (ns per operation)"),
        (
            "text",
            "(us; median and p99 are lower bounds of histogram bins",
        ),
        ("md", "(ns per operation)"),
        ("rst", "(ns per operation)"),
        (
            "csv",
            ",alone,psci_version,,ticks,1024,0,214025,214025,,214026,",
        ),
        ("json", "\"operations\": 1024"),
        ("junit", "core0.alone.psci_version.ticks.median_ns"),
    ] {
        let made = written(&report, format);
        assert!(made.contains(text), "{text:?} is not in\n{made}");
    }
    // Keep only the states that no scenario in the suite covers.
    report.runs[0].run.scenarios.drain(..2);
    let tree = written(&report, "dt");
    assert_eq!(tree.matches("arm,psci-suspend-param").count(), 2, "{tree}");
    // The latencies are 15,004 and 3,004 ticks of 16 ns, rounded up to microseconds.
    for line in ["entry-latency-us = <241>;", "exit-latency-us = <49>;"] {
        assert!(tree.contains(line), "{line:?} is not in\n{tree}");
    }
    let (own, stopped) = tree.split_once("<0x01010022>;").expect("the state");
    assert!(stopped.contains("\tlocal-timer-stop;"), "{tree}");
    assert!(!own.contains("\tlocal-timer-stop;"), "{tree}");
    // A figure from a sweep step is the worst case, and the conditions of the step are shown.
    let swept = edited(|run| {
        let steps = run
            .scenarios
            .iter_mut()
            .filter(|scenario| !scenario.id.is_suite());
        let series = steps
            .flat_map(|scenario| &mut scenario.cells)
            .flat_map(|cell| &mut cell.series);
        series.for_each(|series| series.summary.max = 100_000);
    });
    let part = "Powerdown 1600.00 us: dirty_sweep (deepest, Bytes 0), CPU 0.0";
    assert!(written(&swept, "dt").contains(part));
}
