//! Cluster flushes that take longer if the cache is larger.

use std::collections::BTreeMap;

use hardware::spec::caches::CacheSize;
use itertools::Itertools as _;
use suite::model::Kind;
use suite::plan::ScenarioId;

use super::cluster_facts::cluster_facts;
use super::cluster_flush::Flushes;
use super::suite_tables::{SuiteTables, TableFigure, short_name};
use crate::analysis::findings::BasedFinding;

/// Cluster flush time by cache size.
const FLUSH_BY_SIZE: Kind = Kind::new("flush-by-size");

/// The longest cluster flush for each cache size, sorted by size.
type BySize = BTreeMap<u64, TableFigure>;

pub(in crate::analysis) fn flush_by_size(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let facts = cluster_facts(tables);
    let sizes: Option<BTreeMap<u16, u64>> = facts
        .iter()
        .map(|it| Some((it.cluster, it.cache?)))
        .collect();
    let sizes = sizes?;
    if sizes.values().all_equal() {
        return None;
    }
    let scenarios = [
        ScenarioId::SUSPEND_DEEP_PARALLEL,
        ScenarioId::SUSPEND_DEEP_SERIAL,
        ScenarioId::CPU_OFF_SERIAL,
    ];
    let mut all = Vec::new();
    for (scenario, flushes) in Flushes::of_each(tables, &scenarios)? {
        all.push((scenario, by_size(tables, &sizes, &flushes)?));
    }
    let (_, first) = all.first()?;
    let (least, most) = (first.keys().next()?, first.keys().next_back()?);
    let [large, small] = [most, least].map(|size| {
        let own = facts.iter().filter(|it| it.cache == Some(*size));
        let own = own
            .map(|it| format!("cluster {}", it.cluster))
            .format(" and ");
        format!("{own} ({})", CacheSize(*size))
    });
    let each = all.iter().map(|it| text(tables, it));
    let sentence = format!(
        "The caches of {large} take longer to flush than those of {small}: {}.",
        each.format(", ")
    );
    Some(BasedFinding::of_tables(
        FLUSH_BY_SIZE,
        sentence,
        all.iter().flat_map(|it| it.1.values()).copied(),
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
        let own = large.iter().filter(|it| tables.cluster(it.cpu) == *cluster);
        let own = *own.max_by_key(|it| it.ticks)?;
        let known = longest.entry(*size).or_insert(own);
        if known.ticks < own.ticks {
            *known = own;
        }
    }
    let mut pairs = longest.values().tuple_windows();
    let grows = pairs.all(|(small, large)| tables.is_longer(large, small, 5));
    grows.then_some(longest)
}

/// Returns a phrase that compares the flush times of the largest and the smallest cache.
fn text(tables: &SuiteTables<'_>, (scenario, longest): &(ScenarioId, BySize)) -> String {
    let mut ticks = longest.values().map(|it| it.ticks);
    let small = ticks.next().expect("a cluster");
    let large = ticks.next_back().unwrap_or(small);
    let [large, small] = [large, small].map(|it| tables.span(it));
    format!("{large} compared with {small} in {}", short_name(*scenario))
}
