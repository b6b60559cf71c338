//! The text of an issue about checks that failed: what was called, on which CPU, what came back, and
//! what the specification says.

use itertools::Itertools as _;
use suite::findings::describe_failure;
use suite::model::{Check, CheckEnd, Function};

use super::document::Block;
use super::method::{FIRMWARE, method};
use super::report_data::Report;
use super::warnings::warnings;
use crate::analysis::value_text::cpus_text;
use crate::log::LoggedRun;

/// Returns the issue's blocks; None unless checks failed in every run of the report.
pub(super) fn issue(report: &Report) -> Option<Vec<Block<'_>>> {
    let is_plain = report.comparisons.is_empty() && report.history.is_none();
    let issues: Option<Vec<_>> = report.runs.iter().map(issue_of_run).collect();
    issues
        .filter(|issues| is_plain && !issues.is_empty())
        .map(|issues| issues.into_iter().flatten().collect())
}

/// Returns the issue about one run; None if no check failed.
fn issue_of_run<'r>(logged: &LoggedRun) -> Option<Vec<Block<'r>>> {
    let checks = logged.run.scenarios.iter().flat_map(|one| &one.checks);
    let failed: Vec<&Check> = checks.filter(|check| check.has_failed()).collect();
    let functions = failed.iter().map(|check| check.function.name()).unique();
    let title = match functions.collect_vec()[..] {
        [] => return None,
        [function] => format!("{function} does not work as specified"),
        ref several => format!("{} do not work as specified", several.join(", ")),
    };
    let where_found = method(logged)
        .into_iter()
        .filter(|(name, _)| ["Board", "CPUs", FIRMWARE, "PSCI", "Payload"].contains(name))
        .collect();
    let mut blocks = vec![Block::Title(title)];
    blocks.extend(warnings(logged).into_iter().map(Block::Warning));
    for check in failed {
        blocks.push(Block::Heading(heading(check)));
        blocks.push(Block::Definitions(describe(logged, check)));
    }
    blocks.push(Block::Heading("Found on".to_owned()));
    blocks.push(Block::Definitions(where_found));
    Some(blocks)
}

/// Returns the function and what was checked.
fn heading(check: &Check) -> String {
    let function = check.function.name();
    match check.value_text() {
        _ if check.end == CheckEnd::Missing => format!("{function}: not listed"),
        Some(value) => format!("{function}: {} {value}", check.rule.title),
        None => format!("{function}: {}", check.rule.title),
    }
}

/// Returns the call, and its argument if that is what was checked.
fn call(check: &Check) -> String {
    let name_and_id = |function: Function| format!("{} ({:#010x})", function.name(), function.id());
    match check.value_text() {
        _ if check.end == CheckEnd::Missing => {
            let features = name_and_id(Function::PsciFeatures);
            format!("{features} for {}", name_and_id(check.function))
        }
        Some(state) if check.function == Function::CpuSuspend => {
            format!("{}, {state}", name_and_id(check.function))
        }
        _ => name_and_id(check.function),
    }
}

/// Returns how the check's CPUs took part: some functions are called for another CPU.
const fn role(function: Function) -> &'static str {
    match function {
        Function::CpuOn
        | Function::AffinityInfo
        | Function::NodeHwState
        | Function::StatCount
        | Function::StatResidency => "For",
        _ => "On",
    }
}

fn describe(logged: &LoggedRun, check: &Check) -> Vec<(&'static str, String)> {
    let mut lines = vec![("Called", call(check))];
    if !check.cpus.is_empty() {
        let cpus = cpus_text(&logged.run, check.cpus.iter());
        lines.push((role(check.function), cpus));
    }
    lines.push(("What happened", describe_failure(check)));
    lines.push((
        "Specification",
        format!("{}: {}", check.section(), check.rule.statement),
    ));
    lines
}
