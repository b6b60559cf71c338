//! Cluster flushes that take longer if the cache is larger.

use std::collections::BTreeMap;

use hardware::spec::caches::CacheSize;
use itertools::Itertools as _;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::cluster_facts::cluster_facts;
use super::cluster_flush::Flushes;
use super::suite_tables::{SuiteTables, TableFigure, short_name};
use crate::analysis::findings::BasedFinding;

/// Cluster flush time by cache size.
const FLUSH_BY_SIZE: FindingKind = FindingKind::new("flush-by-size");

/// The longest cluster flush for each cache size, sorted by size.
type BySize = BTreeMap<u64, TableFigure>;

/// Applies if clusters have caches of different sizes and larger ones take longer to flush in every
/// scenario.
pub(in crate::analysis) fn flush_by_size(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let clusters = cluster_facts(tables);
    let sizes = clusters
        .iter()
        .map(|facts| Some((facts.cluster, facts.cache?)))
        .collect::<Option<BTreeMap<u16, u64>>>()?;
    if sizes.values().all_equal() {
        return None;
    }
    let scenarios = [
        ScenarioId::SUSPEND_DEEP_PARALLEL,
        ScenarioId::SUSPEND_DEEP_SERIAL,
        ScenarioId::CPU_OFF_SERIAL,
    ];
    let mut by_scenario = Vec::new();
    for (scenario, flushes) in Flushes::of_each(tables, &scenarios)? {
        by_scenario.push((scenario, by_size(tables, &sizes, &flushes)?));
    }
    let (_, first) = by_scenario.first()?;
    let least = first.keys().next()?;
    let most = first.keys().next_back()?;
    let [large, small] = [most, least].map(|size| {
        let names = clusters
            .iter()
            .filter(|facts| facts.cache == Some(*size))
            .map(|facts| format!("cluster {}", facts.cluster))
            .join(" and ");
        format!("{names} ({})", CacheSize(*size))
    });
    let phrases = by_scenario
        .iter()
        .map(|(scenario, longest_flushes)| text(tables, *scenario, longest_flushes))
        .join(", ");
    let basis = by_scenario
        .iter()
        .flat_map(|(_, longest_flushes)| longest_flushes.values());
    Some(BasedFinding::of_tables(
        FLUSH_BY_SIZE,
        format!("The caches of {large} take longer to flush than those of {small}: {phrases}."),
        basis.copied(),
    ))
}

/// Returns the longest flush for each cache size; None if any cluster lacks a cluster flush, or if
/// larger caches do not take longer to flush.
fn by_size(
    tables: &SuiteTables<'_>,
    sizes: &BTreeMap<u16, u64>,
    flushes: &Flushes,
) -> Option<BySize> {
    let mut longest = BySize::new();
    let large = flushes.large();
    for (cluster, size) in sizes {
        let slowest = *large
            .iter()
            .filter(|flush| tables.cluster(flush.cpu) == *cluster)
            .max_by_key(|flush| flush.ticks)?;
        let known = longest.entry(*size).or_insert(slowest);
        if known.ticks < slowest.ticks {
            *known = slowest;
        }
    }
    let mut neighbors = longest.values().tuple_windows();
    let is_growth = neighbors
        .all(|(smaller_flush, larger_flush)| tables.is_longer(larger_flush, smaller_flush, 5));
    is_growth.then_some(longest)
}

/// Returns a phrase that compares the flush times of the largest and the smallest cache.
fn text(tables: &SuiteTables<'_>, scenario: ScenarioId, longest: &BySize) -> String {
    let mut ticks = longest.values().map(|flush| flush.ticks);
    let smallest = ticks.next().expect("a cluster");
    let largest = ticks.next_back().unwrap_or(smallest);
    let short = tables.span(smallest);
    let long = tables.span(largest);
    format!("{long} compared with {short} in {}", short_name(scenario))
}
