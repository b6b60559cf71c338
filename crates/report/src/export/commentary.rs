//! The findings of a run and its comparison, ranked by importance for a page.

use std::cmp::Reverse;
use std::collections::HashSet;

use itertools::Itertools as _;
use serde::Serialize;
use suite::findings::{LAST_MAN, LOCK_QUEUE, LOST, NOT_COUNTED, WAITED};
use suite::model::Kind;
use suite::plan::{Method, ScenarioId};

use crate::analysis::compare::{CHANGED, Comparison};
use crate::analysis::explain::{ENTRY_QUEUE, EXTRA_FLUSH, PLATFORM_LOCK};
use crate::analysis::findings::{
    BasedFinding, Basis, CONTENTION, DIRTY_FLUSH, FLUSH_OF_CLUSTER, UNCHANGED, explanations,
    findings,
};
use crate::log::LoggedRun;

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

/// The most important findings, followed by the others for each scenario.
#[derive(Serialize)]
pub(super) struct Commentary {
    first: Vec<String>,
    rest: Vec<(Option<&'static str>, Vec<String>)>,
}

/// The important kinds, in order: unreliable figures, changes, and the breakdown of a scenario's
/// figures.
const MATTERS: [Kind; 12] = [
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

fn rank(kind: Kind) -> usize {
    let place = MATTERS.iter().position(|known| *known == kind);
    place.unwrap_or(MATTERS.len())
}

impl Commentary {
    /// Ranks the findings about the suite in `run` and those about the comparison.
    pub(super) fn of(run: &LoggedRun, comparison: Option<&Comparison>) -> Self {
        let suite = run
            .run
            .scenarios
            .iter()
            .filter(|scenario| scenario.id.is_suite());
        // The tables cover only this method.
        let suite = suite.filter(|scenario| scenario.method == Method::Tftf);
        let own = suite.flat_map(|scenario| {
            let all = findings(run, scenario).into_iter();
            let all = all.filter(|finding| finding.kind != Kind::NOT_TOLD);
            all.map(|finding| Ranked {
                scenario: Some(scenario.id),
                rank: rank(finding.kind),
                greatest: 0,
                sentence: finding.sentence,
            })
        });
        let compared = comparison.into_iter().flat_map(|comparison| {
            let all = comparison.findings.iter();
            let is_shown = |basis: &Basis| basis.scenario.method == Method::Tftf;
            let all = all.filter(|finding| finding.finding.kind != UNCHANGED);
            let all = all.filter(move |finding| finding.basis.iter().all(is_shown));
            all.map(|finding| ranked(comparison, finding))
        });
        let explained = explanations(run).into_iter().map(|finding| Ranked {
            scenario: None,
            rank: rank(finding.finding.kind),
            greatest: 0,
            sentence: finding.finding.sentence,
        });
        let ranked = compared.chain(own).chain(explained);
        let ranked = ranked.sorted_by_key(|finding| (finding.rank, Reverse(finding.greatest)));
        // Keep only one finding per scenario and kind, because the others say the same thing about
        // different figures.
        let mut seen = HashSet::new();
        let (first, rest): (Vec<Ranked>, Vec<Ranked>) = ranked.partition(|finding| {
            let is_first = finding.rank < MATTERS.len() && seen.len() < FIRST;
            is_first && seen.insert((finding.scenario.map(ScenarioId::index), finding.rank))
        });
        let named = |finding: Ranked| match finding.scenario {
            Some(id) => format!("{}: {}", id.name(), finding.sentence),
            None => finding.sentence,
        };
        let place = |finding: &Ranked| finding.scenario.map_or(usize::MAX, ScenarioId::index);
        let rest = rest.into_iter().sorted_by_key(place);
        let rest = rest.chunk_by(|finding| finding.scenario.map(ScenarioId::name));
        let rest = rest.into_iter().map(|(name, all)| {
            let sentences = all.map(|finding| finding.sentence);
            (name, sentences.collect())
        });
        Self {
            first: first.into_iter().map(named).collect(),
            rest: rest.collect(),
        }
    }
}

fn ranked(comparison: &Comparison, found: &BasedFinding) -> Ranked {
    let scenario = found
        .basis
        .iter()
        .map(|basis| basis.scenario.id)
        .all_equal_value()
        .ok();
    let sentence = found.finding.sentence.as_str();
    let own = scenario.and_then(|id| sentence.strip_prefix(id.name())?.strip_prefix(": "));
    let greatest = found
        .basis
        .iter()
        .map(|basis| greatest(comparison, basis))
        .max();
    Ranked {
        scenario,
        rank: rank(found.finding.kind),
        greatest: greatest.unwrap_or(0),
        sentence: own.unwrap_or(sentence).to_owned(),
    }
}

/// Returns the largest change behind a finding, in nanoseconds.
fn greatest(comparison: &Comparison, basis: &Basis) -> u64 {
    let scenarios = comparison
        .scenarios
        .iter()
        .filter(|scenario| scenario.key == basis.scenario);
    let changes = scenarios.flat_map(|scenario| scenario.changes());
    let own = changes.filter(|change| {
        let metric = change.key.suite_metric();
        metric.is_some_and(|metric| basis.metrics.contains(&metric))
            && basis.cpus.contains(&change.cpu)
    });
    own.map(|change| change.delta().abs() as u64)
        .max()
        .unwrap_or(0)
}
