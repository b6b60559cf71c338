//! The last man down in each cluster, and the cost of its cache flush.
//!
//! The last man is the CPU that goes down last and so flushes the cluster's caches.
//! In a round of all CPUs, the order of ENTER_HW_LOW_PWR gives it; in sequence, the
//! state that was reached by PSCI_STAT.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::detail::Detail;
use super::words;
use crate::measure::{Metric, lower_median};
use crate::model::{Confidence, CpuSet, Finding, Instant, Kind, Row, Run, Scenario};
use crate::plan::ScenarioId;
use crate::spec::pmf::Stamp;
use crate::spec::prose::append;

/// The most clusters that have a sentence each on the UART.
const CLUSTERS_MAX: usize = 8;
/// The most CPUs that are named with the number of rounds in which they were last.
const OFTEN_MAX: usize = 4;

/// Finds the last man of each cluster; only where the deepest level was asked for.
pub(crate) fn last_man(run: &Run, scenario: &Scenario, detail: Detail) -> Vec<Finding> {
    match scenario.id {
        _ if !scenario.has_pmf() => Vec::new(),
        ScenarioId::SuspendDeepParallel => together(run, scenario, detail),
        ScenarioId::SuspendDeepSerial | ScenarioId::CpuOffSerial if detail.is_full() => {
            in_sequence(run, scenario)
        }
        _ => Vec::new(),
    }
}

fn together(run: &Run, scenario: &Scenario, detail: Detail) -> Vec<Finding> {
    if !scenario.has_order() {
        let has_figures = scenario.rows.iter().any(|row| flush(row).is_some());
        return if has_figures && detail.is_full() {
            vec![not_told(scenario, "there are no timestamps")]
        } else {
            Vec::new()
        };
    }
    let clusters = run
        .cluster_heads()
        .map(|head| Cluster::of(run, scenario, head));
    if detail.is_full() {
        let each = clusters.map(|cluster| match cluster.last() {
            Ok(last) => last.finding(run, &cluster, &cluster.how_often(run)),
            Err(why) => not_told(scenario, &why),
        });
        return each.collect();
    }
    let known: Vec<_> = clusters
        .filter_map(|cluster| Some((cluster.last().ok()?, cluster)))
        .collect();
    if known.len() <= CLUSTERS_MAX {
        let each = known.iter().map(|(last, cluster)| last.short(run, cluster));
        return each.collect();
    }
    // One sentence for all: the tables have each.
    let flushes = words::range(known.iter().map(|(last, _)| last.flush));
    let others = words::range(
        known
            .iter()
            .flat_map(|(last, _)| last.others.iter().copied()),
    );
    let of_all = flushes.map(|flushes| {
        let sentence = format!(
            "Last men down in {} clusters, by ENTER_HW_LOW_PWR: cache flush {}{}.",
            known.len(),
            run.clock().range(flushes),
            others_have(run, others)
        );
        let rows = known.iter().flat_map(|(_, cluster)| &cluster.rows);
        finding(Kind::LastMan, sentence, rows.copied(), Confidence::Stamps)
    });
    of_all.into_iter().collect()
}

fn flush(row: &Row) -> Option<u64> {
    row.figures.cache_flush
}

/// The rows of one cluster's CPUs.
struct Cluster<'s> {
    number: u16,
    /// The number of its CPUs.
    cpus: usize,
    rows: Vec<&'s Row>,
}

/// The last man of a cluster, its flush, and the others' flushes.
struct LastMan {
    cpu: u16,
    flush: u64,
    others: Vec<u64>,
}

impl<'s> Cluster<'s> {
    fn of(run: &Run, scenario: &'s Scenario, head: u16) -> Self {
        let number = run.cpu(head).cluster;
        let is_mine = |row: &&Row| run.cpu(row.cpu).cluster == number;
        Self {
            number,
            cpus: run.cpus.iter().filter(|cpu| cpu.cluster == number).count(),
            rows: scenario.rows.iter().filter(is_mine).collect(),
        }
    }

    /// Returns the last man; or the reason why that is not known: a CPU without
    /// timestamps may be the one.
    fn last(&self) -> Result<LastMan, String> {
        let number = self.number;
        if self.rows.len() < self.cpus {
            return Err(format!("not all CPUs of cluster {number} have a row"));
        }
        let order = |row: &&'s Row| Some((row.went_down()?, row.cpu, flush(row)?));
        let known: Option<Vec<_>> = self.rows.iter().map(order).collect();
        let last = known.and_then(|mut known| {
            let last = *known.iter().max()?;
            known.retain(|other| *other != last);
            let others = known.into_iter().map(|it| it.2).collect();
            let (_, cpu, flush) = last;
            Some(LastMan { cpu, flush, others })
        });
        last.ok_or_else(|| format!("a CPU of cluster {number} has no timestamps"))
    }

    /// Returns how often which CPU was last, if all rounds are known.
    fn how_often(&self, run: &Run) -> String {
        let rounds = self.rows.first().map_or(0, |row| row.samples.len());
        if rounds < 2 || self.rows.len() < 2 {
            return String::new();
        }
        let mut counts = BTreeMap::<u16, usize>::new();
        for round in 0..rounds {
            let down = |row: &&Row| {
                let sample = row.samples.get(round)?;
                let down = Instant::Stamp(Stamp::EnterHwLowPwr);
                Some((sample.place, sample.instants.counter(down)?, row.cpu))
            };
            let all: Option<Vec<_>> = self.rows.iter().map(down).collect();
            let all = all.filter(|all| all.iter().all(|it| it.0 == all[0].0));
            let Some((_, _, last)) = all.and_then(|all| all.into_iter().max()) else {
                return String::new();
            };
            *counts.entry(last).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(cpu, count)| (Reverse(*count), *cpu));
        let each = counts.iter().take(OFTEN_MAX);
        let each = each.map(|(cpu, count)| format!("CPU {} in {count}", run.label(*cpu)));
        format!(" Of {rounds} rounds: {}.", words::list(each))
    }
}

impl LastMan {
    fn short(&self, run: &Run, cluster: &Cluster<'_>) -> Finding {
        let sentence = format!(
            "Last man down in cluster {}, by ENTER_HW_LOW_PWR: CPU {}, cache flush {}{}.",
            cluster.number,
            run.label(self.cpu),
            run.clock().span(self.flush),
            others_have(run, words::range(self.others.iter().copied()))
        );
        let rows = cluster.rows.iter().copied();
        finding(Kind::LastMan, sentence, rows, Confidence::Stamps)
    }

    fn finding(&self, run: &Run, cluster: &Cluster<'_>, how_often: &str) -> Finding {
        let mut finding = self.short(run, cluster);
        let median = lower_median(&mut self.others.clone());
        if !self.others.is_empty() && self.flush > median {
            let more = run.clock().span(self.flush - median);
            append(
                &mut finding.sentence,
                format_args!(" It took {more} more than their median."),
            );
        }
        finding.sentence += how_often;
        finding
    }
}

fn others_have(run: &Run, others: Option<(u64, u64)>) -> String {
    others.map_or_else(String::new, |others| {
        format!("; the others' {}", run.clock().range(others))
    })
}

fn finding<'r>(
    kind: Kind,
    sentence: String,
    rows: impl Iterator<Item = &'r Row>,
    confidence: Confidence,
) -> Finding {
    Finding {
        kind,
        sentence,
        cpus: rows.map(|row| row.cpu).collect::<CpuSet>(),
        metrics: vec![Metric::CacheFlush],
        confidence,
    }
}

fn not_told(scenario: &Scenario, why: &str) -> Finding {
    let sentence = format!(
        "Last man down: cannot be seen from figures alone, as {why}; the size of a flush is no \
         evidence of it."
    );
    finding(
        Kind::NotTold,
        sentence,
        scenario.rows.iter(),
        Confidence::Unknown,
    )
}

/// Finds the states that were reached, if they are several, and their flushes.
fn in_sequence(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    let mut states = BTreeMap::<u32, Vec<&Row>>::new();
    for row in &scenario.rows {
        if let Some(state) = row.reached.and_then(|reached| reached.state) {
            states.entry(state).or_default().push(row);
        }
    }
    let has_stat = run.facts.is_some_and(|facts| facts.stat);
    let has_figures = scenario.rows.iter().any(|row| flush(row).is_some());
    if states.is_empty() && has_figures && !has_stat && scenario.id == ScenarioId::SuspendDeepSerial
    {
        return vec![not_told(scenario, "there is no PSCI_STAT")];
    }
    if states.len() < 2 {
        return Vec::new();
    }
    let each = states.iter().map(|(state, rows)| {
        let flushes = words::range(rows.iter().filter_map(|row| flush(row)));
        let flushes = flushes.map_or_else(String::new, |it| {
            format!(", cache flush {}", run.clock().range(it))
        });
        let cpus = words::cpus(run, rows.iter().map(|row| row.cpu));
        format!("CPU {cpus} reached {state:#010x}{flushes}")
    });
    let sentence = format!(
        "By PSCI_STAT_COUNT, {}.",
        each.collect::<Vec<_>>().join("; ")
    );
    let rows = states.values().flatten().copied();
    vec![finding(Kind::LastMan, sentence, rows, Confidence::Counts)]
}
