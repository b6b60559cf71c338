//! Steps in scenarios outside the TFTF suite.

use report::synthetic_run::use_steps;
use suite::measure::Metric;
use suite::model::{Cell, CellStep, Series, Skip};
use suite::plan::Variant;

use super::{edited, written};

/// A skipped step has no figure rather than a figure of zero.
#[test]
fn steps_without_samples_have_no_figures() {
    let report = edited(|run| {
        use_steps(run, 100);
        let left_out = |step_value| Cell {
            skipped: Some(Skip::TooFewCpus),
            series: vec![Series::new(Metric::Powerdown)],
            ..Cell::new(
                0.into(),
                CellStep {
                    value: Some(step_value),
                    ..CellStep::with_variant(Variant::PLAIN)
                },
            )
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
    let report = edited(|run| use_steps(run, 100));
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
}
