//! Determines a job's outcome from its results and its runs.

use std::fmt::Display;

use hardware::text::plural::many;
use itertools::Itertools as _;
use run::model::{Scenario, Status, Verdict};
use serde::Serialize;

use super::results::{CaseStatus, Results};
use crate::log::LoggedRun;

/// A job's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobOutcome {
    /// Everything passed.
    Passed,
    /// A job, a test case or a verdict failed.
    Failed,
    /// No run is complete, or a result is missing.
    Incomplete,
}

impl JobOutcome {
    /// Returns the outcome name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
        }
    }
}

/// Returns a job's outcome and the reasons for it: the job's failures, followed by its missing
/// parts (`lacks`).
pub(super) fn outcome(
    results: Option<&Results>,
    runs: &[LoggedRun],
    lacks: Vec<String>,
    deny_skipped: bool,
) -> (JobOutcome, Vec<String>) {
    let mut said = results.map_or_else(Vec::new, of_results);
    said.extend(runs.iter().filter_map(of_run));
    let denied = runs.iter().filter(|_| deny_skipped);
    said.extend(denied.filter_map(LoggedRun::denied));
    let failed = !said.is_empty();
    let of_runs = runs.iter().flat_map(LoggedRun::lacks);
    let lacks: Vec<String> = lacks.into_iter().chain(of_runs).collect();
    let outcome = match (lacks.is_empty(), failed) {
        (false, _) => JobOutcome::Incomplete,
        (true, true) => JobOutcome::Failed,
        (true, false) => JobOutcome::Passed,
    };
    said.extend(lacks);
    (outcome, said)
}

fn of_results(results: &Results) -> Vec<String> {
    let failure = results.failure.iter().map(|why| match why.as_str() {
        "" => "the job failed, but the engine reported no reason".to_owned(),
        why => format!("the job failed: {why}"),
    });
    let mut said: Vec<String> = failure.collect();
    said.extend(results.faults.iter().cloned());
    let is_bad = |it: &CaseStatus| matches!(it, CaseStatus::Failed | CaseStatus::Unknown);
    let bad = results.cases.iter().filter(|case| is_bad(case.1));
    let names: Vec<&str> = bad.map(|case| case.0.as_str()).collect();
    if !names.is_empty() {
        said.push(format!("{} not passed", listed(&names)));
    }
    // A job that no longer tests anything must not stay green.
    let (cases, skipped) = (results.cases.len(), results.count(CaseStatus::Skipped));
    if cases > 0 && cases == skipped && results.measurements() == 0 {
        let cases = many(cases, "test case");
        said.push(format!("nothing was run: {cases}, all skipped"));
    }
    said
}

/// Lists the first few names and counts the rest.
fn listed(names: &[impl Display]) -> String {
    match names.len().checked_sub(3) {
        Some(more @ 1..) => format!("{} and {more} more", names[..3].iter().join(", ")),
        _ => names.iter().join(", "),
    }
}

/// Describes a run's failure, based on its verdict. A TFTF log has no verdict, so its scenarios are
/// examined instead.
fn of_run(run: &LoggedRun) -> Option<String> {
    let verdict = run.verdict();
    if verdict.is_some_and(|verdict| verdict != Verdict::Pass) {
        return Some(run.verdict_text());
    }
    let scenarios = &run.run.scenarios;
    let bad = scenarios.iter().filter_map(|it| match it.status {
        Status::Failed(_) => Some(format!("{} failed", it.id.tag())),
        Status::Crashed => Some(format!("{} crashed", it.id.tag())),
        Status::Passed | Status::Skipped(_) | Status::Unknown => None,
    });
    let mut names: Vec<String> = bad.collect();
    if run.strays > 0 && run.run.end.is_none() {
        let strays = many(run.strays as usize, "other scenario");
        names.push(format!("{strays} failed"));
    }
    if !names.is_empty() {
        return Some(listed(&names));
    }
    let is_skipped = |it: &Scenario| matches!(it.status, Status::Skipped(_));
    let is_idle = verdict.is_none() && !scenarios.is_empty() && scenarios.iter().all(is_skipped);
    is_idle.then(|| "nothing was run: all scenarios were skipped".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::find::find;
    use crate::jobs::read::read_all;

    fn of_log(text: &str) -> (JobOutcome, String) {
        let dir = tempfile::tempdir().expect("a directory");
        let log = dir.path().join("uart.log");
        std::fs::write(&log, text).expect("written");
        let (jobs, _) = read_all(&find(&[log]).expect("a file"), false).expect("a log");
        (jobs[0].outcome, jobs[0].said.join("; "))
    }

    #[test]
    fn a_tftf_log_passes_by_its_scenarios() {
        let stray = "> Executing 'Another'\r\n  TEST COMPLETE                 Failed\r\n";
        for (stray, status, expected, why) in [
            ("", "Passed", JobOutcome::Passed, ""),
            ("", "Failed", JobOutcome::Failed, "cpu_susp_serial failed"),
            ("", "Crashed", JobOutcome::Failed, "cpu_susp_serial crashed"),
            ("", "Skipped", JobOutcome::Failed, "nothing was run"),
            (
                stray,
                "Passed",
                JobOutcome::Failed,
                "1 other scenario failed",
            ),
            ("", "", JobOutcome::Incomplete, "does not show how"),
        ] {
            let end = match status {
                "" => String::new(),
                status => format!("  TEST COMPLETE                 {status}\r\n"),
            };
            let (outcome, said) = of_log(&format!(
                "NOTICE:  Booting trusted firmware test framework\r\n{stray}\
                 > Executing 'CPU suspend on all cores in sequence'\r\n\
                 <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n{end}\
                 NOTICE:  Exiting tests.\r\n"
            ));
            assert_eq!(outcome, expected, "{status}: {said}");
            assert!(said.contains(why), "{status}: {said}");
            assert_eq!(said.is_empty(), why.is_empty(), "{status}: {said}");
        }
        let (outcome, said) = of_log(
            "NOTICE:  Booting trusted firmware test framework\r\npsci-bench: PASS (6 passed, \
             0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)\r\n",
        );
        assert_eq!(outcome, JobOutcome::Incomplete, "{said}");
    }
}
