//! The findings of a run and its comparison, ranked by importance for a page.

use std::cmp::Reverse;
use std::collections::HashSet;

use itertools::Itertools as _;
use report::analysis::compare::{CHANGED, Change, Comparison};
use report::analysis::explain::{ENTRY_QUEUE, EXTRA_FLUSH, PLATFORM_LOCK};
use report::analysis::findings::{
    BasedFinding, Basis, CONTENTION, DIRTY_FLUSH, FLUSH_OF_CLUSTER, UNCHANGED, explanations,
    findings,
};
use report::log::LoggedRun;
use serde::Serialize;
use suite::findings::{LAST_MAN, LOCK_QUEUE, LOST, NOT_COUNTED, WAITED};
use suite::model::{FindingKind, Scenario};
use suite::plan::{Method, ScenarioId};

/// The number of findings shown first.
const FIRST: usize = 3;

/// A sentence, the scenario it is about, if any, and its sort keys: the rank of its kind, followed
/// by the largest change in nanoseconds.
struct Ranked {
    scenario: Option<ScenarioId>,
    rank: usize,
    greatest: u64,
    sentence: String,
}

impl Ranked {
    /// Returns the sentence, preceded by the scenario's name.
    fn with_scenario(self) -> String {
        match self.scenario {
            Some(id) => format!("{}: {}", id.name(), self.sentence),
            None => self.sentence,
        }
    }
}

/// The most important findings, followed by the others for each scenario.
#[derive(Serialize)]
pub(crate) struct Commentary {
    first: Vec<String>,
    rest: Vec<(Option<&'static str>, Vec<String>)>,
}

/// The important kinds, in order: unreliable figures, changes, and the breakdown of a scenario's
/// figures.
const MATTERS: [FindingKind; 12] = [
    LOST,
    NOT_COUNTED,
    FLUSH_OF_CLUSTER,
    CHANGED,
    EXTRA_FLUSH,
    PLATFORM_LOCK,
    ENTRY_QUEUE,
    LOCK_QUEUE,
    LAST_MAN,
    WAITED,
    CONTENTION,
    DIRTY_FLUSH,
];

/// Returns a kind's place in [`MATTERS`]; the other kinds come last.
fn rank(kind: FindingKind) -> usize {
    let index = MATTERS.iter().position(|important| *important == kind);
    index.unwrap_or(MATTERS.len())
}

impl Commentary {
    /// Ranks the findings about the suite in `logged` and those about the comparison.
    pub(crate) fn of(logged: &LoggedRun, comparison: Option<&Comparison>) -> Self {
        let from_scenarios = logged
            .run
            .scenarios
            .iter()
            // The tables cover only this method.
            .filter(|scenario| scenario.id.is_suite() && scenario.method == Method::Tftf)
            .flat_map(|scenario| scenario_findings(logged, scenario));
        let from_tables = explanations(logged).into_iter().map(|explanation| Ranked {
            scenario: None,
            rank: rank(explanation.finding.kind),
            greatest: 0,
            sentence: explanation.finding.sentence,
        });
        let ranked = comparison
            .into_iter()
            .flat_map(comparison_findings)
            .chain(from_scenarios)
            .chain(from_tables)
            .sorted_by_key(|finding| (finding.rank, Reverse(finding.greatest)));
        // Keep only one finding per scenario and kind, because the others say the same thing about
        // different figures.
        let mut seen = HashSet::new();
        let (first, rest): (Vec<Ranked>, Vec<Ranked>) = ranked.partition(|finding| {
            let can_be_first = finding.rank < MATTERS.len() && seen.len() < FIRST;
            can_be_first && seen.insert((finding.scenario.map(ScenarioId::index), finding.rank))
        });
        Self {
            first: first.into_iter().map(Ranked::with_scenario).collect(),
            rest: by_scenario(rest),
        }
    }
}

/// Returns the findings about one of the run's scenarios.
fn scenario_findings(logged: &LoggedRun, scenario: &Scenario) -> Vec<Ranked> {
    findings(logged, scenario)
        .into_iter()
        .filter(|finding| finding.kind != FindingKind::NOT_TOLD)
        .map(|finding| Ranked {
            scenario: Some(scenario.id),
            rank: rank(finding.kind),
            greatest: 0,
            sentence: finding.sentence,
        })
        .collect()
}

/// Returns the findings about a comparison.
fn comparison_findings(comparison: &Comparison) -> Vec<Ranked> {
    let is_tftf = |basis: &Basis| basis.scenario.method == Method::Tftf;
    let mut findings = Vec::new();
    for based_finding in &comparison.findings {
        let is_change = based_finding.finding.kind != UNCHANGED;
        if is_change && based_finding.basis.iter().all(is_tftf) {
            findings.push(ranked(comparison, based_finding));
        }
    }
    findings
}

/// Returns the sentences by scenario, in the order of the suite. Those that are not about a single
/// scenario come last.
fn by_scenario(ranked: Vec<Ranked>) -> Vec<(Option<&'static str>, Vec<String>)> {
    let scenario_index = |finding: &Ranked| finding.scenario.map_or(usize::MAX, ScenarioId::index);
    let groups = ranked
        .into_iter()
        .sorted_by_key(scenario_index)
        .chunk_by(|finding| finding.scenario.map(ScenarioId::name));
    let mut sentences_by_scenario = Vec::new();
    for (name, findings) in &groups {
        let sentences = findings.map(|finding| finding.sentence);
        sentences_by_scenario.push((name, sentences.collect()));
    }
    sentences_by_scenario
}

/// Returns a finding about a comparison. If it is about a single scenario, its sentence omits the
/// scenario's name.
fn ranked(comparison: &Comparison, based: &BasedFinding) -> Ranked {
    let scenario = based
        .basis
        .iter()
        .map(|basis| basis.scenario.id)
        .all_equal_value()
        .ok();
    let whole = based.finding.sentence.as_str();
    let without_scenario =
        scenario.and_then(|id| whole.strip_prefix(id.name())?.strip_prefix(": "));
    let greatest = based
        .basis
        .iter()
        .map(|basis| greatest(comparison, basis))
        .max();
    Ranked {
        scenario,
        rank: rank(based.finding.kind),
        greatest: greatest.unwrap_or(0),
        sentence: without_scenario.unwrap_or(whole).to_owned(),
    }
}

/// Returns the largest change behind a finding, in nanoseconds.
fn greatest(comparison: &Comparison, basis: &Basis) -> u64 {
    let is_basis = |change: &&Change| {
        let metric = change.key.suite_metric();
        metric.is_some_and(|metric| basis.metrics.contains(&metric))
            && basis.cpus.contains(&change.cpu)
    };
    let changes = comparison
        .scenarios
        .iter()
        .filter(|scenario| scenario.key == basis.scenario)
        .flat_map(|scenario| scenario.changes());
    changes
        .filter(is_basis)
        .map(|change| change.delta().abs() as u64)
        .max()
        .unwrap_or(0)
}
