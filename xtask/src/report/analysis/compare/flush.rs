//! Who flushes a cluster-size cache, then and now.
//!
//! Figures alone do not tell who was last man, and a large flush is no
//! evidence of it. But two sizes can be compared; and of the CPUs of a cluster
//! that go down together one alone is the last: where more than one of them
//! flushes as much as the cluster's largest flush, some do who are not last.

use std::collections::BTreeMap;

use psci_bench::measure::Metric;
use psci_bench::plan::ScenarioId;

use super::change::Change;
use super::comparison::ComparedTest;
use super::noise::time;
use super::sentences::{durations, rows};
use super::sides::Judge;
use crate::report::analysis::explain::{Confidence, Finding, Kind};
use crate::report::model::{Run, Term};

/// A flush is of the cluster's size from 4/5 of the largest in the baseline
/// on, and clearly less below 1/2; there has to be a fourfold between the
/// least and the largest for sizes to be told apart at all.
const CONTRAST: u64 = 4;

fn is_of_cluster(flush: u64, size: u64) -> bool {
    flush.saturating_mul(5) >= size.saturating_mul(4)
}

fn is_less(flush: u64, size: u64) -> bool {
    flush.saturating_mul(2) < size
}

/// The largest flush of each cluster, in a run where all that the clusters
/// have is flushed by some and not by others.
fn sizes(run: &Run) -> BTreeMap<u32, u64> {
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    let mut least = u64::MAX;
    for scenario in [
        ScenarioId::SuspendDeepParallel,
        ScenarioId::SuspendDeepSerial,
    ] {
        let test = run.tests.iter().find(|test| test.scenario.is(scenario));
        for row in test.into_iter().flat_map(|test| &test.rows) {
            let flush = row.figure(&Term::Known(Metric::CacheFlush));
            let Some((flush, cpu)) = flush.zip(run.cpus.get(row.cpu)) else {
                continue;
            };
            let flush = time(run, flush);
            least = least.min(flush);
            let size = sizes.entry(cpu.cluster).or_default();
            *size = flush.max(*size);
        }
    }
    sizes.retain(|_, size| least.saturating_mul(CONTRAST) <= *size);
    sizes
}

/// How many CPUs of each cluster flush its size in one parallel round, and of
/// how many.
fn together(run: &Run, sizes: &BTreeMap<u32, u64>) -> BTreeMap<u32, (usize, usize)> {
    let mut counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    let deep =
        |test: &&crate::report::model::Test| test.scenario.is(ScenarioId::SuspendDeepParallel);
    for row in run
        .tests
        .iter()
        .find(deep)
        .into_iter()
        .flat_map(|test| &test.rows)
    {
        let flush = row.figure(&Term::Known(Metric::CacheFlush));
        let Some((flush, cpu)) = flush.zip(run.cpus.get(row.cpu)) else {
            continue;
        };
        let Some(size) = sizes.get(&cpu.cluster) else {
            continue;
        };
        let count = counts.entry(cpu.cluster).or_default();
        count.0 += usize::from(is_of_cluster(time(run, flush), *size));
        count.1 += 1;
    }
    counts
}

/// Whether CPUs that are not last man began or ceased to flush a cluster-size
/// cache.
pub(super) fn of_cluster(judge: &Judge<'_>, tests: &[ComparedTest]) -> Vec<Finding> {
    let (new, old) = (judge.new, judge.old);
    let found = |before: &Run, after: &Run, begins: bool| {
        // Whoever does not flush it for nothing has the contrast.
        let sizes = sizes(before);
        if sizes.is_empty() {
            return None;
        }
        let (then, now) = (together(before, &sizes), together(after, &sizes));
        let more: Vec<_> = now
            .iter()
            .filter(|(cluster, count)| {
                count.0 > 1 && then.get(cluster).is_some_and(|then| then.0 <= 1)
            })
            .collect();
        let serial = in_sequence(judge, tests, &sizes, begins);
        if more.is_empty() && serial.is_empty() {
            return None;
        }
        Some(told(judge, tests, &more, &then, &serial, begins))
    };
    let begun = found(old, new, true);
    let ended = found(new, old, false);
    begun.into_iter().chain(ended).collect()
}

/// Changes of CPUs in sequence from less than the cluster's flush to as much,
/// or back.
fn in_sequence<'t>(
    judge: &Judge<'_>,
    tests: &'t [ComparedTest],
    sizes: &BTreeMap<u32, u64>,
    begins: bool,
) -> Vec<&'t Change> {
    let deep = |test: &&ComparedTest| test.scenario.is(ScenarioId::SuspendDeepSerial);
    let changes = tests
        .iter()
        .find(deep)
        .into_iter()
        .flat_map(|test| &test.by_cpu);
    let flush = changes.filter(|it| it.metric.is(Metric::CacheFlush));
    flush
        .filter(|it| {
            let (cpus, at) = if begins {
                (&judge.old.cpus, it.old_cpu)
            } else {
                (&judge.new.cpus, it.cpu)
            };
            let (less, size) = if begins {
                (it.old, it.new)
            } else {
                (it.new, it.old)
            };
            let cluster = cpus.get(at).and_then(|cpu| sizes.get(&cpu.cluster));
            cluster.is_some_and(|of| is_less(less.figure, *of) && is_of_cluster(size.figure, *of))
        })
        .collect()
}

type Counts = BTreeMap<u32, (usize, usize)>;

fn told(
    judge: &Judge<'_>,
    tests: &[ComparedTest],
    more: &[(&u32, &(usize, usize))],
    then: &Counts,
    serial: &[&Change],
    begins: bool,
) -> Finding {
    let mut sentence = String::new();
    let mut basis = Vec::new();
    let find = |scenario| tests.iter().find(|test| test.scenario.is(scenario));
    if more.is_empty() {
        sentence.push_str(if begins {
            "CPUs that did not before now pay a cluster-size cache flush; whether they are last \
             man can not be told from figures alone"
        } else {
            "CPUs that did before no longer pay a cluster-size cache flush; whether they were \
             last man can not be told from figures alone"
        });
    } else {
        sentence.push_str(if begins {
            "CPUs that are not last man now pay a cluster-size cache flush"
        } else {
            "CPUs that are not last man no longer pay a cluster-size cache flush"
        });
        let each = more.iter().map(|(cluster, many)| {
            let few = then.get(cluster).map_or(0, |it| it.0);
            let (then, now) = if begins { (few, many.0) } else { (many.0, few) };
            format!("{now} of {} in cluster {cluster} (before: {then})", many.1)
        });
        let each: Vec<String> = each.collect();
        sentence.push_str(&format!(
            ": in one parallel round {}, of whom only one can be the last in each",
            each.join(" and ")
        ));
        if let Some(test) = find(ScenarioId::SuspendDeepParallel) {
            let run = if begins { judge.new } else { judge.old };
            let in_cluster = |it: &&Change| {
                let cpu = if begins { it.cpu } else { it.old_cpu };
                let cluster = run.cpus.get(cpu).map(|cpu| cpu.cluster);
                it.metric.is(Metric::CacheFlush) && more.iter().any(|m| Some(*m.0) == cluster)
            };
            let changes: Vec<&Change> = test.changes().iter().filter(in_cluster).collect();
            basis.extend(rows(judge, test, &changes));
        }
    }
    if let Some(test) = find(ScenarioId::SuspendDeepSerial).filter(|_| !serial.is_empty()) {
        let labels: Vec<String> = serial.iter().map(|it| judge.new.label(it.cpu)).collect();
        let flush = |of: fn(&Change) -> u64| {
            let all: Vec<u64> = serial.iter().map(|it| of(it)).collect();
            durations(judge, &all)
        };
        sentence.push_str(&format!(
            "; in sequence CPU {} flushed for {} before, and for {} now",
            labels.join(", "),
            flush(|it| it.old.figure),
            flush(|it| it.new.figure),
        ));
        let powerdown = |it: &&Change| {
            it.metric.is(Metric::Powerdown) && serial.iter().any(|flush| flush.cpu == it.cpu)
        };
        let cost: Vec<&Change> = test.by_cpu.iter().filter(powerdown).collect();
        let cost_ns: Vec<u64> = cost
            .iter()
            .map(|it| it.new.figure.abs_diff(it.old.figure))
            .collect();
        if !cost.is_empty() {
            sentence.push_str(&format!(
                ", which {} each of them {} of Powerdown",
                if begins { "costs" } else { "saves" },
                durations(judge, &cost_ns)
            ));
        }
        basis.extend(rows(judge, test, serial));
        basis.extend(rows(judge, test, &cost));
    }
    sentence.push('.');
    Finding {
        kind: Kind::FlushOfCluster,
        sentence,
        basis,
        confidence: Confidence::Figures,
    }
}
