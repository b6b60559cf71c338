//! Determines a report's exit code and prints the problems with its runs.

use follow::explain_marks;
use follow::stream::find_verdict;
use hardware::text::plural::many;
use host::exit_code::{FAILED, INCOMPLETE};
use host::progress::say;

use crate::analysis::compare::Change;
use crate::export::{Report, percent_text};
use crate::log::LoggedRun;

const REGRESSION: u8 = FAILED;

/// Prints the problems found and returns the exit code. An incomplete log takes precedence over a
/// regression, because its figures are unreliable.
pub fn judge(report: &Report, baseline: Option<&LoggedRun>) -> u8 {
    let mut code = 0;
    for comparison in &report.comparisons {
        let baseline = &comparison.baseline.source.input;
        let size = |change: &Change| change.percent().unwrap_or(f64::INFINITY);
        let regressions = comparison.regressions();
        let run = &report.runs[comparison.run].run;
        let largest = regressions.max_by(|a, b| size(a.1).total_cmp(&size(b.1)));
        if let Some((scenario, change)) = largest {
            code = REGRESSION;
            let percent = percent_text(change.percent());
            let count = many(comparison.regressions().count(), "regression");
            let (key, id) = (change.key.in_sentence(), scenario.key.id);
            say(&format!(
                "{count} against {baseline}; the largest is {key} in {id}, {percent}"
            ));
        } else if comparison.is_pmf_cost {
            say(&format!(
                "{baseline} is from firmware without PMF: the differences are the cost of PMF"
            ));
        } else if let Some(why) = comparison.why_not_judged(run) {
            say(&format!("no verdict against {baseline}: {why}"));
        } else if comparison.is_complete() {
            say(&format!("no regression against {baseline}"));
        }
    }
    for comparison in &report.comparisons {
        let baseline = &comparison.baseline.source.input;
        for lack in comparison.lacks() {
            code = INCOMPLETE;
            say(&format!(
                "the comparison with {baseline} is incomplete: {lack}"
            ));
        }
    }
    for logged in report.runs.iter().chain(baseline) {
        for doubt in logged.doubts() {
            say_of(logged, &doubt);
        }
    }
    if !all_complete(report.runs.iter().chain(baseline)) {
        code = INCOMPLETE;
    }
    code
}

/// Returns true if all `runs` are complete. For each incomplete run, prints what is missing.
pub fn all_complete<'r>(runs: impl IntoIterator<Item = &'r LoggedRun>) -> bool {
    let mut are_complete = true;
    for logged in runs.into_iter().filter(|logged| !logged.is_complete()) {
        are_complete = false;
        say_of(
            logged,
            &format!("incomplete: {}", logged.lacks().join("; ")),
        );
    }
    are_complete
}

/// Prints what the runs skipped. Returns true if anything was skipped.
pub fn say_denied(report: &Report) -> bool {
    let mut has_skipped = false;
    for logged in &report.runs {
        if let Some(denied) = logged.denied() {
            has_skipped = true;
            say_of(logged, &denied);
        }
    }
    has_skipped
}

/// If the boot marks in `log` stop before the end, prints how far the boot got.
pub fn say_mark_of(log: &[u8]) {
    if find_verdict(log).is_none()
        && let Some(explanation) = explain_marks(&String::from_utf8_lossy(log))
    {
        say(&explanation);
    }
}

/// Prints `what`, preceded by the run name.
pub fn say_of(logged: &LoggedRun, what: &str) {
    let (input, run_number) = (&logged.source.input, logged.source.run_number);
    say(&format!("{input} (run {run_number}): {what}"));
}
