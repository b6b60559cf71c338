//! Tests soaks, using made-up runs.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use report::follow::stream::MachineEnding;
use report::made_up_run;
use run::measure::Reason;
use run::model::Verdict;
use run::plan::{Records, ScenarioId};

use super::keep::Keep;
use super::soak::{SoakLimits, TIME, soak};
use super::totals::SoakTotals;
use crate::qemu::run_result::RunResult;

/// Returns a run that has this verdict and, in each of two scenarios, four samples for each of two
/// CPUs. One suspend was abandoned. If the verdict is FAIL, one CPU is lost.
fn ended(verdict: Verdict) -> RunResult {
    let mut run = made_up_run::run();
    let ids = [
        ScenarioId::SuspendDeepParallel,
        ScenarioId::PsciVersionParallel,
    ];
    run.scenarios = ids.map(|id| made_up_run::suspend(id, None, &[0, 1])).into();
    for cell in run.scenarios.iter_mut().flat_map(|it| &mut it.cells) {
        cell.counts.get_or_insert_default().valid = 4;
    }
    let cells = run.scenarios[0].cells.iter_mut();
    for (cell, reason) in cells.zip([Reason::Companion, Reason::Abandoned]) {
        cell.counts.get_or_insert_default().rejected = vec![(reason, 1)];
    }
    let mut end = made_up_run::end(&run);
    (end.verdict, end.totals.rejected) = (verdict, 2);
    end.totals.lost = (verdict == Verdict::Fail).into();
    run.end = Some(end);
    RunResult {
        log: made_up_run::log(&run, Records::Once).into_bytes(),
        verdict,
        ending: MachineEnding::Exited { success: true },
        diagnosis: None,
        positions: Vec::new(),
        elapsed: Duration::from_secs(9),
    }
}

fn hung() -> RunResult {
    RunResult {
        log: b"psci-bench 0.1.0\r\n".to_vec(),
        ending: MachineEnding::TimedOut,
        diagnosis: Some("no closing line within 7 s".into()),
        positions: vec!["CPU 0: EL2 at 0x60000000: image offset 0x0".into()],
        elapsed: Duration::from_secs(12),
        ..ended(Verdict::Incomplete)
    }
}

struct Came {
    result: Result<SoakTotals>,
    said: String,
    files: Vec<String>,
    summary: String,
}

fn run_all(runs: Vec<RunResult>, limits: SoakLimits) -> Came {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut keep = Keep::at(dir.path()).expect("an empty directory");
    let mut out = Vec::new();
    // Each run takes ten seconds, and a call after the last run fails.
    let (mut runs, mut time) = (runs.into_iter(), Duration::ZERO);
    let mut run = || {
        time += Duration::from_secs(10);
        Ok((time, runs.next().context("QEMU did not start")?))
    };
    let result = soak(&mut run, &limits, &mut keep, &mut out);
    let files = fs::read_dir(dir.path()).expect("there");
    let files = files.map(|file| file.expect("readable").file_name());
    let mut files: Vec<String> = files.map(|it| it.to_string_lossy().into_owned()).collect();
    files.sort();
    Came {
        result,
        said: String::from_utf8(out).expect("text"),
        summary: fs::read_to_string(dir.path().join("summary.txt")).expect("a summary"),
        files,
    }
}

fn runs(runs: u64) -> SoakLimits {
    SoakLimits {
        runs: Some(runs),
        ..SoakLimits::default()
    }
}

#[test]
fn figures_and_what_is_kept() {
    let all = vec![ended(Verdict::Pass), hung(), ended(Verdict::Fail)];
    let came = run_all(all, runs(3));
    let totals = came.result.expect("three runs");
    assert_eq!((totals.runs(), totals.exit_code()), (3, 1));
    let logs = ["run-0002-INCOMPLETE.log", "run-0003-FAIL.log"];
    assert_eq!(came.files, [&logs[..], &["summary.txt"]].concat());
    let (text, place) = came.said.rsplit_once("logs kept: ").expect("a last line");
    assert!(place.starts_with("2, in "), "{place}");
    assert_eq!(
        text,
        "\
run 1: PASS, 9.0 s, 16 samples, 2 not counted
run 2: INCOMPLETE, 12.0 s: no closing line within 7 s
  CPU 0: EL2 at 0x60000000: image offset 0x0
run 3: FAIL, 9.0 s, 16 samples, 2 not counted

3 runs in 30s, 6.0 a minute: 1 PASS, 1 FAIL, 0 bad input, 1 INCOMPLETE
slowest: run 2, 12.0 s
samples: 32; suspends: 20; CPUs lost: 1
not counted: 2 abandoned, 2 companion
runs that ended without records, so their attempts are missing above: 1
"
    );
    assert_eq!(came.summary, came.said);
}

#[test]
fn when_it_is_enough() {
    let many = || vec![ended(Verdict::Pass); 100];
    let count = |limits: SoakLimits| {
        let totals = run_all(many(), limits).result.expect("good runs");
        assert_eq!(totals.exit_code(), 0);
        totals.runs()
    };
    let none = SoakLimits::default();
    let (time, suspends) = (Some(Duration::from_secs(25)), Some(31));
    assert_eq!(count(SoakLimits { time, ..none }), 3);
    assert_eq!(count(SoakLimits { suspends, ..none }), 4);
    let runs = Some(2);
    assert_eq!(count(SoakLimits { runs, time, ..none }), 2);
    assert_eq!(none.or_default().time, Some(TIME));
    assert_eq!(SoakLimits { runs, ..none }.or_default().time, None);
}

#[test]
fn soak_ends_early_by_interruption_bad_input_and_error() {
    let (mut cut, mut refused) = (hung(), hung());
    cut.ending = MachineEnding::Interrupted;
    refused.verdict = Verdict::BadInput;
    let passed = || ended(Verdict::Pass);
    let log = "run-0001-bad-input.log";
    let cut_line = "run 2: interrupted, not counted\n\n";
    for (all, code, logs, said) in [
        (vec![passed(), cut.clone(), passed()], 0, &[][..], cut_line),
        (vec![cut], 3, &[], "\n0 runs"),
        (vec![refused, passed()], 2, &[log], "1 bad input"),
    ] {
        let came = run_all(all, runs(9));
        assert_eq!(came.result.expect("an end").exit_code(), code);
        assert_eq!(came.files, [logs, &["summary.txt"]].concat());
        assert!(came.said.contains(said), "{}", came.said);
    }
    let came = run_all(vec![passed()], runs(9));
    let error = came.result.expect_err("no second run");
    assert_eq!(error.to_string(), "QEMU did not start");
    assert!(came.said.contains("1 PASS"), "{}", came.said);
}
