//! The CPUs that flush a cluster-size cache, then and now.
//!
//! Figures alone do not show which CPU was the last man, and a large flush is no
//! evidence of it. But two sizes can be compared, and of the CPUs of a cluster that
//! go down together only one is the last: if more than one of them flushes as much
//! as the cluster's largest flush, some do who are not last.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use psci_bench::measure::Metric;
use psci_bench::model::{Confidence, Kind, Run};
use psci_bench::plan::ScenarioId::{self, SuspendDeepParallel, SuspendDeepSerial};

use super::change::Change;
use super::comparison::ComparedScenario;
use super::sentences::{bases, durations};
use super::sides::Sides;
use crate::report::analysis::basis::ComparisonFinding;
use crate::report::analysis::figure::FigureKey;

/// The least ratio of the largest flush to the least at which sizes can be kept
/// apart.
const CONTRAST: f64 = 4.0;

const CACHE_FLUSH: FigureKey = FigureKey::Row {
    metric: Metric::CacheFlush,
};
const POWERDOWN: FigureKey = FigureKey::Row {
    metric: Metric::Powerdown,
};

/// Returns true for a flush of at least 4/5 of the cluster's largest.
fn is_of_cluster(flush: f64, size: f64) -> bool {
    flush * 5.0 >= size * 4.0
}

/// Returns the cache flushes of the first scenario with this ID, by cluster.
fn flushes(run: &Run, id: ScenarioId) -> impl Iterator<Item = (u16, f64)> {
    let scenario = run.scenarios.iter().find(|it| it.id == id);
    let rows = scenario.into_iter();
    let rows = rows.flat_map(|it| it.rows.iter().map(move |row| (it, row)));
    rows.filter_map(|(scenario, row)| {
        let flush = scenario.figure(row, Metric::CacheFlush)?;
        let cluster = run.cpus.get(usize::from(row.cpu))?.cluster;
        Some((cluster, CACHE_FLUSH.per_operation(run.clock(), flush)))
    })
}

/// Returns the largest flush of each cluster in which some CPUs flush far more than
/// the least of all.
fn sizes(run: &Run) -> BTreeMap<u16, f64> {
    let all = flushes(run, SuspendDeepParallel).chain(flushes(run, SuspendDeepSerial));
    let (mut least, mut sizes) = (f64::MAX, BTreeMap::new());
    for (cluster, flush) in all {
        least = flush.min(least);
        let size: &mut f64 = sizes.entry(cluster).or_default();
        *size = size.max(flush);
    }
    sizes.retain(|_, size| least * CONTRAST <= *size);
    sizes
}

/// Counts the CPUs of each cluster that flush its size in one parallel round, and all.
fn count_together(run: &Run, sizes: &BTreeMap<u16, f64>) -> BTreeMap<u16, (usize, usize)> {
    let mut counts = BTreeMap::new();
    for (cluster, flush) in flushes(run, SuspendDeepParallel) {
        if let Some(size) = sizes.get(&cluster) {
            let count: &mut (usize, usize) = counts.entry(cluster).or_default();
            count.0 += usize::from(is_of_cluster(flush, *size));
            count.1 += 1;
        }
    }
    counts
}

/// A change of the CPUs that flush, in the direction in which more of them do.
struct Found<'c> {
    /// True if they begin to; false if they cease.
    begins: bool,
    /// Clusters in which more than one CPU of a round flushes, with the number of
    /// these, of all, and of those that flushed on the other side.
    more: Vec<(u16, usize, usize, usize)>,
    /// Changes of CPUs in sequence from less than the cluster's flush to as much.
    serial: Vec<&'c Change>,
}

/// Says whether CPUs that are not the last man begin or cease to flush a
/// cluster-size cache.
pub(super) fn of_cluster(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
) -> Vec<ComparisonFinding> {
    let find = |begins: bool| {
        let (new, old) = sides.runs();
        let (few, many) = if begins { (old, new) } else { (new, old) };
        // Only the side on which fewer CPUs flush has the contrast.
        let sizes = sizes(few);
        let (then, now) = (count_together(few, &sizes), count_together(many, &sizes));
        let more = now.into_iter().filter_map(|(cluster, (count, of))| {
            let before = then.get(&cluster)?.0;
            (count > 1 && before <= 1).then_some((cluster, count, of, before))
        });
        let found = Found {
            begins,
            more: more.collect(),
            serial: in_sequence(sides, scenarios, &sizes, begins),
        };
        let is_none = found.more.is_empty() && found.serial.is_empty();
        (!is_none).then(|| finding(sides, scenarios, &found))
    };
    [true, false].into_iter().filter_map(find).collect()
}

fn in_sequence<'c>(
    sides: &Sides<'_>,
    scenarios: &'c [ComparedScenario],
    sizes: &BTreeMap<u16, f64>,
    begins: bool,
) -> Vec<&'c Change> {
    let (new, old) = sides.runs();
    let is_found = |it: &&Change| {
        let (run, cpu, less, more) = match begins {
            true => (old, it.old_cpu, it.old.figure, it.new.figure),
            false => (new, it.cpu, it.new.figure, it.old.figure),
        };
        let size = sizes.get(&run.cpu(cpu).cluster);
        size.is_some_and(|size| less * 2.0 < *size && is_of_cluster(more, *size))
    };
    let serial = scenarios.iter().find(|it| it.key.id == SuspendDeepSerial);
    let changes = serial.into_iter().flat_map(|it| &it.by_cpu);
    let flushes = changes.filter(|it| it.key == CACHE_FLUSH);
    flushes.filter(is_found).collect()
}

fn finding(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
    found: &Found<'_>,
) -> ComparisonFinding {
    let of = |id| scenarios.iter().find(|it| it.key.id == id);
    let (not, pay, are) = match found.begins {
        true => ("not ", "now pay", "are"),
        false => ("", "no longer pay", "were"),
    };
    let mut each = found.more.iter().map(|(cluster, many, all, few)| {
        let (then, now) = if found.begins {
            (few, many)
        } else {
            (many, few)
        };
        format!("{now} of {all} in cluster {cluster} (before: {then})")
    });
    let mut sentence = match found.more.is_empty() {
        true => format!(
            "CPUs that did {not}before {pay} a cluster-size cache flush; whether they {are} last \
             man can not be told from figures alone"
        ),
        false => format!(
            "CPUs that are not last man {pay} a cluster-size cache flush: in one parallel round \
             {}, of whom only one can be the last in each",
            each.join(" and ")
        ),
    };
    let mut basis = Vec::new();
    if let Some(parallel) = of(SuspendDeepParallel) {
        let (new, old) = sides.runs();
        let is_of_more = |it: &&Change| {
            let cluster = match found.begins {
                true => new.cpu(it.cpu).cluster,
                false => old.cpu(it.old_cpu).cluster,
            };
            it.key == CACHE_FLUSH && found.more.iter().any(|more| more.0 == cluster)
        };
        let changes: Vec<&Change> = parallel.changes().iter().filter(is_of_more).collect();
        basis.extend(bases(parallel, &changes));
    }
    if let Some(serial) = of(SuspendDeepSerial).filter(|_| !found.serial.is_empty()) {
        let is_own = |it: &&Change| {
            it.key == POWERDOWN && found.serial.iter().any(|flush| flush.cpu == it.cpu)
        };
        let costs: Vec<&Change> = serial.by_cpu.iter().filter(is_own).collect();
        sentence.push_str(&serial_text(sides, found, &costs));
        basis.extend(bases(serial, &[&found.serial[..], &costs].concat()));
    }
    sentence.push('.');
    ComparisonFinding::new(Kind::FlushOfCluster, Confidence::Figures, sentence, basis)
}

/// Describes the changes in sequence, and their cost in Powerdown.
fn serial_text(sides: &Sides<'_>, found: &Found<'_>, costs: &[&Change]) -> String {
    let serial = || found.serial.iter();
    let labels = serial().map(|it| sides.new.run.label(it.cpu)).join(", ");
    let then = durations(sides, serial().map(|it| it.old.figure));
    let now = durations(sides, serial().map(|it| it.new.figure));
    let text = format!("; in sequence CPU {labels} flushed for {then} before, and for {now} now");
    if costs.is_empty() {
        return text;
    }
    let costs = durations(
        sides,
        costs.iter().map(|it| (it.new.figure - it.old.figure).abs()),
    );
    let verb = if found.begins { "costs" } else { "saves" };
    format!("{text}, which {verb} each of them {costs} of Powerdown")
}
