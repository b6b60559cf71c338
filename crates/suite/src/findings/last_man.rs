//! The last man down in each cluster, and the cost of its cache flush.
//!
//! The last man is the last CPU in its cluster to go down in a round with all CPUs, by
//! ENTER_HW_LOW_PWR timestamp. This CPU therefore flushes the cluster's caches.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;
use thiserror::Error;

use super::sentence_parts;
use super::subject::{Subject, Verbosity};
use crate::measure::{Metric, lower_median};
use crate::model::{Cell, Evidence, Finding, FindingKind, Run, Scenario};
use crate::plan::StateChoice;

/// A cluster's last man down.
pub const LAST_MAN: FindingKind = FindingKind::new("last-man");

/// Why a cluster's last man is unknown.
#[derive(Debug, Error)]
enum LastManUnknown {
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
    let mut findings = Vec::new();
    if !scenario.has_order() {
        let has_flush = |cell: &Cell| cell.figure(Metric::CacheFlush).is_some();
        if scenario.cells.iter().any(has_flush) && verbosity.is_full() {
            findings.push(unknown_last_man(scenario, &LastManUnknown::NoTimestamps));
        }
        return findings;
    }
    for head in run.cluster_heads() {
        match of_cluster(run, scenario, run.cpu(head).cluster, verbosity) {
            Ok(finding) => findings.push(finding),
            Err(reason) if verbosity.is_full() => {
                findings.push(unknown_last_man(scenario, &reason));
            }
            Err(_) => {}
        }
    }
    findings
}

/// A CPU that went down, with the timestamp and the length of its flush in ticks.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct WentDown {
    at: u64,
    cpu: CpuIndex,
    flush: u64,
}

/// Finds a cluster's last man. Returns an error if the last man could be a CPU without timestamps.
fn of_cluster(
    run: &Run,
    scenario: &Scenario,
    cluster: u16,
    verbosity: Verbosity,
) -> Result<Finding, LastManUnknown> {
    let is_in_cluster = |cell: &&Cell| run.cpu(cell.cpu).cluster == cluster;
    let cells: Vec<&Cell> = scenario.cells.iter().filter(is_in_cluster).collect();
    let cpus = run.cpus.iter().filter(|cpu| cpu.cluster == cluster);
    if cells.len() < cpus.count() {
        return Err(LastManUnknown::RowMissing(cluster.into()));
    }
    let went_down = |cell: &&Cell| {
        Some(WentDown {
            at: cell.went_down()?,
            cpu: cell.cpu,
            flush: cell.figure(Metric::CacheFlush)?,
        })
    };
    let order: Option<Vec<WentDown>> = cells.iter().map(went_down).collect();
    let mut order = order.ok_or(LastManUnknown::CpuWithoutTimestamps(cluster.into()))?;
    order.sort_unstable();
    let last = order.pop();
    let WentDown { cpu, flush, .. } = last.expect("every cluster has a CPU, and it has a row");
    let clock = run.clock();
    let others = match sentence_parts::find_range(order.iter().map(|other| other.flush)) {
        Some(range) => format!("; the others' {}", clock.range(range)),
        None => String::new(),
    };
    let number = u32::from(cluster);
    let mut sentence = format!(
        "Last man down in cluster {number}, by ENTER_HW_LOW_PWR: CPU {}, cache flush {}{others}.",
        run.label(cpu),
        clock.span(flush)
    );
    let mut other_flushes: Vec<u64> = order.iter().map(|other| other.flush).collect();
    let median = lower_median(&mut other_flushes);
    if verbosity.is_full() && !other_flushes.is_empty() && flush > median {
        let ticks = clock.span(flush - median);
        sentence += &format!(" This flush took {ticks} longer than the others' median.");
    }
    Ok(Finding {
        metrics: vec![Metric::CacheFlush],
        evidence: Evidence::Stamps,
        ..Finding::by_counts(LAST_MAN, sentence, cells.iter().map(|cell| cell.cpu))
    })
}

fn unknown_last_man(scenario: &Scenario, why: &LastManUnknown) -> Finding {
    let sentence =
        format!("Last man down: unknown, because {why}; flush times alone do not identify it.");
    let cpus = scenario.cells.iter().map(|cell| cell.cpu);
    Finding {
        metrics: vec![Metric::CacheFlush],
        evidence: Evidence::Unknown,
        ..Finding::by_counts(FindingKind::NOT_TOLD, sentence, cpus)
    }
}
