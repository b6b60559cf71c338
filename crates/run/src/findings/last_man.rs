//! The last man down in each cluster, and the cost of its cache flush.
//!
//! The last man is the CPU that goes down last in a round of all CPUs, by the order of
//! ENTER_HW_LOW_PWR, and so flushes the cluster's caches.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::words::{self, Detail};
use crate::measure::{Metric, lower_median};
use crate::model::{Confidence, Finding, Kind, Row, Run, Scenario};
use crate::plan::StateChoice;

/// The last man down in a cluster.
pub const LAST_MAN: Kind = Kind::new("last-man");

/// Finds the last man of each cluster; only where the deepest level was asked for.
pub(super) fn find_last_men(run: &Run, scenario: &Scenario, detail: Detail) -> Vec<Finding> {
    let is_deepest = scenario.id.procedure().state() == Some(StateChoice::Deepest);
    if !is_deepest || !scenario.id.is_parallel() || !scenario.has_pmf() {
        return Vec::new();
    }
    let not_told = |why: String| detail.is_full().then(|| not_told(scenario, &why));
    if !scenario.has_order() {
        let mut rows = scenario.rows.iter();
        let has_figures = rows.any(|row| row.figures.cache_flush.is_some());
        let why = has_figures.then(|| "there are no timestamps".into());
        return why.and_then(not_told).into_iter().collect();
    }
    let clusters = run.cluster_heads().map(|head| run.cpu(head).cluster);
    let found = clusters.map(|cluster| of_cluster(run, scenario, cluster, detail));
    let found = found.map(|found| found.map_or_else(not_told, Some));
    found.flatten().collect()
}

/// Finds the last man of a cluster; or the reason why that is not known: a CPU without
/// timestamps may be the one.
fn of_cluster(
    run: &Run,
    scenario: &Scenario,
    cluster: u16,
    detail: Detail,
) -> Result<Finding, String> {
    let is_mine = |row: &&Row| run.cpu(row.cpu).cluster == cluster;
    let rows: Vec<_> = scenario.rows.iter().filter(is_mine).collect();
    let cpus = run.cpus.iter().filter(|cpu| cpu.cluster == cluster);
    if rows.len() < cpus.count() {
        return Err(format!("not all CPUs of cluster {cluster} have a row"));
    }
    let order = |row: &&Row| Some((row.went_down()?, row.cpu, row.figures.cache_flush?));
    let known: Option<Vec<_>> = rows.iter().map(order).collect();
    let mut known = known.unwrap_or_default();
    known.sort_unstable();
    let Some((_, cpu, flush)) = known.pop() else {
        return Err(format!("a CPU of cluster {cluster} has no timestamps"));
    };
    let (cpu, clock) = (run.label(cpu), run.clock());
    let others = words::range(known.iter().map(|it| it.2)).map(|it| clock.range(it));
    let others = others.map_or_else(String::new, |it| format!("; the others' {it}"));
    let mut sentence = format!(
        "Last man down in cluster {cluster}, by ENTER_HW_LOW_PWR: CPU {cpu}, cache flush \
         {}{others}.",
        clock.span(flush)
    );
    let mut others: Vec<u64> = known.iter().map(|it| it.2).collect();
    let median = lower_median(&mut others);
    if detail.is_full() && !others.is_empty() && flush > median {
        let ticks = clock.span(flush - median);
        sentence += &format!(" It took {ticks} more than their median.");
    }
    Ok(Finding {
        metrics: vec![Metric::CacheFlush],
        confidence: Confidence::Stamps,
        ..Finding::by_counts(LAST_MAN, sentence, rows.iter().map(|row| row.cpu))
    })
}

fn not_told(scenario: &Scenario, why: &str) -> Finding {
    let sentence = format!(
        "Last man down: cannot be seen from figures alone, as {why}; the size of a flush is no \
         evidence of it."
    );
    let cpus = scenario.rows.iter().map(|row| row.cpu);
    Finding {
        metrics: vec![Metric::CacheFlush],
        confidence: Confidence::Unknown,
        ..Finding::by_counts(Kind::NOT_TOLD, sentence, cpus)
    }
}
