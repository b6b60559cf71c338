//! The pages that `--format html` writes, opened in a browser.

use std::path::Path;

use hardware::board::Mpidr;
use report::analysis::compare::{Options as Compared, compare};
use report::analysis::history::history;
use report::export::Report;
use report::log::LoggedRun;
use report::synthetic_run::use_steps;
use suite::measure::Summary;
use suite::model::{Cpu, Failure, Series, Skip, Status};

use crate::report::{edited, written};
use crate::support::browser::check_page;

/// Returns a page with every kind of content: several runs, including one with many CPUs and markup
/// in its name; unverified rows; scenarios that did not pass; a sweep with a histogram; and a
/// comparison in which some figures rose and others fell.
fn page() -> String {
    let mut report = edited(|run| {
        let rows = run.scenarios.clone();
        use_steps(run, 100);
        run.scenarios.splice(..0, rows);
    });
    let mut wide = report.runs[0].clone();
    let head = wide.run.head.as_mut().expect("a head");
    head.model = "</h1><script>nosuch()</script>".to_owned();
    for index in 4..24u16 {
        wide.run.cpus.push(Cpu {
            mpidr: Some(Mpidr::new(0x1000 + u64::from(index))),
            cluster: index / 4 + 1,
            core: index % 4,
            ..Cpu::default()
        });
        let scenarios = wide.run.scenarios.iter_mut();
        for scenario in scenarios.filter(|scenario| !scenario.suite_cells().is_empty()) {
            let place = usize::from(index) % scenario.cells.len();
            let mut cell = scenario.cells[place].clone();
            cell.cpu = index.into();
            scenario.cells.push(cell);
        }
    }
    wide.run.scenarios[2].status = Status::Failed(Failure::NotStated);
    wide.run.scenarios[3].cells.clear();
    wide.run.scenarios[3].status = Status::Skipped(Skip::NoIdleState);
    report.runs.push(wide);
    let mut lines = report.runs[0].clone();
    lines.integrity.unverified_rows = 24;
    let suite = lines
        .run
        .scenarios
        .iter_mut()
        .filter(|scenario| scenario.id.is_suite());
    for cell in suite.flat_map(|scenario| &mut scenario.cells) {
        cell.counts = None;
        cell.shown = None;
        cell.series.iter_mut().for_each(clear);
    }
    report.runs.push(lines);
    let baseline = baseline(&report.runs[0]);
    let runs = &report.runs[..1];
    report.comparisons = compare(runs, &baseline, &Compared::default()).expect("one board");
    let page = written(&report, "html");
    for part in [
        "<li class=\"part\"><a href=\"#part",
        ">Comparison of QEMU virt, run 1 of 3 with a.log</a></li>",
        "<b class=\"bad\">worse</b>",
        "<b class=\"good\">better</b>",
        "-sweep1\"",
        "-histogram1\"",
        ": change by order (of one operation",
    ] {
        assert!(page.contains(part), "{part}");
    }
    page
}

/// Returns a page that shows a release history. Some figures rise, others fall, and one release
/// lacks a scenario and a CPU.
fn history_page() -> String {
    let mut first = edited(|run| use_steps(run, 100)).runs.remove(0);
    first
        .run
        .scenarios
        .extend(edited(|_| ()).runs[0].run.scenarios.clone());
    first.firmware.clear();
    let mut second = baseline(&first);
    let third = baseline(&second);
    let parallel = second
        .run
        .scenarios
        .iter()
        .position(|scenario| scenario.id.is_parallel());
    second
        .run
        .scenarios
        .remove(parallel.expect("a parallel scenario"));
    for scenario in second
        .run
        .scenarios
        .iter_mut()
        .filter(|scenario| scenario.id.is_suite())
    {
        scenario.cells.pop();
    }
    let mut runs = vec![first, second, third];
    for (nth, logged) in runs.iter_mut().enumerate() {
        logged.source.input = format!("v1.{nth}.log");
    }
    let report = Report {
        history: Some(history(&runs, 20_000).expect("releases of one board")),
        runs,
        ..Report::default()
    };
    let page = written(&report, "html");
    for part in [
        "<title>History of PSCI latencies of QEMU virt",
        ">n/a</text>",
        "class=\"trace c1\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    page
}

/// Clears everything in the series except its figure.
fn clear(series: &mut Series) {
    (series.summary, series.cold) = (Summary::default(), None);
}

/// Returns a run whose figures are lower than those of `run` on some CPUs and higher on others.
fn baseline(logged: &LoggedRun) -> LoggedRun {
    let mut baseline = logged.clone();
    for scenario in &mut baseline.run.scenarios {
        let is_suite = scenario.id.is_suite();
        for (nth, cell) in (0u64..).zip(&mut scenario.cells) {
            for series in &mut cell.series {
                if is_suite {
                    series.shown = series.shown.map(|figure| figure * (nth + 2) / 3);
                    clear(series);
                    continue;
                }
                series.shown = series.shown.map(|figure| figure * 2 / 3);
                let summary = &mut series.summary;
                for figure in [&mut summary.min, &mut summary.median, &mut summary.max] {
                    *figure = *figure * 2 / 3;
                }
            }
        }
    }
    baseline
}

#[test]
fn browser_finds_nothing_wrong_in_reports_and_histories() {
    for (name, page) in [("report", page()), ("history", history_page())] {
        check_page(name, &page, Path::new(env!("CARGO_TARGET_TMPDIR")));
    }
}
