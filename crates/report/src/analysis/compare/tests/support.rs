//! Helpers that build comparisons for tests and access their parts.

use anyhow::Result;
use suite::measure::Metric;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use crate::analysis::compare::{
    AllowedDifference, Change, ChangeOutcome, ComparedScenario, Comparison, Options, RowCpu,
    compare, name_rows,
};
use crate::analysis::findings::BasedFinding;
use crate::analysis::synthetic::published;
use crate::log::LoggedRun;

/// Compares using the options named in `across`.
pub(super) fn try_compare(
    new: &LoggedRun,
    old: &LoggedRun,
    allowed_differences: &str,
) -> Result<Comparison> {
    let options = Options {
        allowed_differences: AllowedDifference::CONDITIONS
            .into_iter()
            .chain(AllowedDifference::MAY_BE_MISSING)
            .filter(|option| {
                allowed_differences
                    .split(',')
                    .any(|word| word == option.word())
            })
            .collect(),
        ..Options::default()
    };
    Ok(compare(std::slice::from_ref(new), old, &options)?.remove(0))
}

pub(super) fn compared(new: &LoggedRun, old: &LoggedRun) -> Comparison {
    try_compare(new, old, "").expect("comparable")
}

/// Assigns CPUs to rows, then compares.
pub(super) fn with_rows(new: &LoggedRun, old: &LoggedRun, names: &str) -> Result<Comparison> {
    let rows: Vec<RowCpu> = names
        .split(',')
        .map(|name| name.parse().expect(name))
        .collect();
    let mut runs = [new.clone()];
    let mut baseline = old.clone();
    name_rows(&mut runs, &mut baseline, &rows)?;
    try_compare(&runs[0], &baseline, "")
}

pub(super) fn juno(new: &str, old: &str) -> Comparison {
    let [new, old] = [new, old].map(|release| published(&format!("juno/{release}")));
    compared(&new, &old)
}

pub(super) fn scenario(comparison: &Comparison, id: ScenarioId) -> &ComparedScenario {
    let mut scenarios = comparison.scenarios.iter();
    scenarios
        .find(|scenario| scenario.key.id == id)
        .expect("both have it")
}

pub(super) fn outcomes(changes: &[Change], metric: Metric) -> Vec<ChangeOutcome> {
    changes
        .iter()
        .filter(|change| change.key.suite_metric() == Some(metric))
        .map(|change| change.outcome)
        .collect()
}

pub(super) fn sentences(comparison: &Comparison, kind: FindingKind) -> Vec<&str> {
    comparison
        .findings
        .iter()
        .map(|based_finding| &based_finding.finding)
        .filter(|finding| finding.kind == kind)
        .map(|finding| finding.sentence.as_str())
        .collect()
}

/// Returns the finding of this kind whose sentence contains all parts.
pub(super) fn found<'c>(
    comparison: &'c Comparison,
    kind: FindingKind,
    parts: &[&str],
) -> &'c BasedFinding {
    let has_parts = |based_finding: &&BasedFinding| {
        let sentence = &based_finding.finding.sentence;
        based_finding.finding.kind == kind && parts.iter().all(|part| sentence.contains(part))
    };
    let found = comparison.findings.iter().find(has_parts);
    found.unwrap_or_else(|| panic!("no {kind:?} with {parts:?} in {:#?}", comparison.findings))
}
