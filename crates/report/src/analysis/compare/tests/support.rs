//! Helpers that build comparisons for tests and access their parts.

use anyhow::Result;
use suite::measure::Metric;
use suite::model::Kind;
use suite::plan::ScenarioId;

use crate::analysis::compare::{
    Across, Change, ChangeOutcome, ComparedScenario, Comparison, Options, compare, name_rows,
};
use crate::analysis::findings::BasedFinding;
use crate::analysis::made_up::published;
use crate::log::LoggedRun;

/// Compares using the options named in `across`.
pub(super) fn try_compare(new: &LoggedRun, old: &LoggedRun, across: &str) -> Result<Comparison> {
    let all = || Across::CONDITIONS.into_iter().chain(Across::PARTS);
    let of_word = |word| all().find(|across| across.word() == word);
    let across = across.split(',').filter_map(of_word);
    let options = Options {
        across: across.collect(),
        ..Options::default()
    };
    Ok(compare(std::slice::from_ref(new), old, &options)?.remove(0))
}

pub(super) fn compared(new: &LoggedRun, old: &LoggedRun) -> Comparison {
    try_compare(new, old, "").expect("comparable")
}

/// Assigns CPUs to rows, then compares.
pub(super) fn with_rows(new: &LoggedRun, old: &LoggedRun, rows: &str) -> Result<Comparison> {
    let rows = rows.split(',').map(|row| row.parse().expect(row));
    let (mut runs, mut old) = ([new.clone()], old.clone());
    name_rows(&mut runs, &mut old, &rows.collect::<Vec<_>>())?;
    try_compare(&runs[0], &old, "")
}

pub(super) fn juno(new: &str, old: &str) -> Comparison {
    let [new, old] = [new, old].map(|release| published(&format!("juno/{release}")));
    compared(&new, &old)
}

pub(super) fn of(comparison: &Comparison, id: ScenarioId) -> &ComparedScenario {
    let mut all = comparison.scenarios.iter();
    all.find(|scenario| scenario.key.id == id)
        .expect("both have it")
}

pub(super) fn outcomes(all: &[Change], metric: Metric) -> Vec<ChangeOutcome> {
    let own = all
        .iter()
        .filter(|change| change.key.suite_metric() == Some(metric));
    own.map(|change| change.outcome).collect()
}

pub(super) fn sentences(comparison: &Comparison, kind: Kind) -> Vec<&str> {
    let all = comparison.findings.iter().map(|finding| &finding.finding);
    let all = all.filter(|finding| finding.kind == kind);
    all.map(|finding| finding.sentence.as_str()).collect()
}

pub(super) fn found<'c>(
    comparison: &'c Comparison,
    kind: Kind,
    parts: &[&str],
) -> &'c BasedFinding {
    let has_all = |finding: &&BasedFinding| {
        let sentence = &finding.finding.sentence;
        finding.finding.kind == kind && parts.iter().all(|part| sentence.contains(part))
    };
    let found = comparison.findings.iter().find(has_all);
    found.unwrap_or_else(|| panic!("no {kind:?} with {parts:?} in {:#?}", comparison.findings))
}
