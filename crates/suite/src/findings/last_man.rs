//! The last man down in each cluster, and the cost of its cache flush.
//!
//! The last man is the last CPU in its cluster to go down in a round with all CPUs, by
//! ENTER_HW_LOW_PWR timestamp. This CPU therefore flushes the cluster's caches.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use thiserror::Error;

use super::subject::{Subject, Verbosity};
use super::words;
use crate::measure::{Metric, lower_median};
use crate::model::{Cell, Evidence, Finding, Kind, Run, Scenario};
use crate::plan::StateChoice;

/// A cluster's last man down.
pub const LAST_MAN: Kind = Kind::new("last-man");

/// Why a cluster's last man is unknown.
#[derive(Debug, Error)]
enum NotTold {
    #[error("there are no timestamps")]
    NoTimestamps,
    #[error("a CPU in cluster {0} has no row")]
    RowMissing(u32),
    #[error("a CPU in cluster {0} has no timestamps")]
    CpuWithoutTimestamps(u32),
}

/// Finds each cluster's last man if the deepest level was requested.
pub(super) fn find_last_men(
    &Subject {
        run,
        scenario,
        verbosity,
    }: &Subject<'_>,
) -> Vec<Finding> {
    let is_deepest = scenario.id.state() == Some(StateChoice::Deepest);
    if !is_deepest || !scenario.id.is_parallel() || !scenario.has_pmf() {
        return Vec::new();
    }
    let not_told = |why: NotTold| verbosity.is_full().then(|| not_told(scenario, &why));
    if !scenario.has_order() {
        let mut cells = scenario.cells.iter();
        let has_figures = cells.any(|cell| cell.figure(Metric::CacheFlush).is_some());
        let why = has_figures.then_some(NotTold::NoTimestamps);
        return why.and_then(not_told).into_iter().collect();
    }
    let clusters = run.cluster_heads().map(|head| run.cpu(head).cluster);
    let found = clusters.map(|cluster| of_cluster(run, scenario, cluster, verbosity));
    let found = found.map(|found| found.map_or_else(not_told, Some));
    found.flatten().collect()
}

/// Finds a cluster's last man. Returns an error if the last man could be a CPU without timestamps.
fn of_cluster(
    run: &Run,
    scenario: &Scenario,
    cluster: u16,
    verbosity: Verbosity,
) -> Result<Finding, NotTold> {
    let is_mine = |cell: &&Cell| run.cpu(cell.cpu).cluster == cluster;
    let cells: Vec<_> = scenario.cells.iter().filter(is_mine).collect();
    let cpus = run.cpus.iter().filter(|cpu| cpu.cluster == cluster);
    if cells.len() < cpus.count() {
        return Err(NotTold::RowMissing(cluster.into()));
    }
    let order = |cell: &&Cell| {
        Some((
            cell.went_down()?,
            cell.cpu,
            cell.figure(Metric::CacheFlush)?,
        ))
    };
    let known: Option<Vec<_>> = cells.iter().map(order).collect();
    let mut known = known.ok_or(NotTold::CpuWithoutTimestamps(cluster.into()))?;
    known.sort_unstable();
    let last = known.pop();
    let (_, cpu, flush) = last.expect("every cluster has a CPU, and every CPU has a row");
    let (cpu, clock) = (run.label(cpu), run.clock());
    let others = words::range(known.iter().map(|it| it.2)).map(|it| clock.range(it));
    let others = others.map_or_else(String::new, |it| format!("; the others' {it}"));
    let number = u32::from(cluster);
    let mut sentence = format!(
        "Last man down in cluster {number}, by ENTER_HW_LOW_PWR: CPU {cpu}, cache flush \
         {}{others}.",
        clock.span(flush)
    );
    let mut others: Vec<u64> = known.iter().map(|it| it.2).collect();
    let median = lower_median(&mut others);
    if verbosity.is_full() && !others.is_empty() && flush > median {
        let ticks = clock.span(flush - median);
        sentence += &format!(" This flush took {ticks} longer than the others' median.");
    }
    Ok(Finding {
        metrics: vec![Metric::CacheFlush],
        evidence: Evidence::Stamps,
        ..Finding::by_counts(LAST_MAN, sentence, cells.iter().map(|cell| cell.cpu))
    })
}

fn not_told(scenario: &Scenario, why: &NotTold) -> Finding {
    let sentence =
        format!("Last man down: unknown, because {why}; flush times alone do not identify it.");
    let cpus = scenario.cells.iter().map(|cell| cell.cpu);
    Finding {
        metrics: vec![Metric::CacheFlush],
        evidence: Evidence::Unknown,
        ..Finding::by_counts(Kind::NOT_TOLD, sentence, cpus)
    }
}
