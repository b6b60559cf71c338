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
use crate::model::{Confidence, Finding, Instant, Kind, Row, Run, Scenario};
use crate::plan::ScenarioId;
use crate::spec::pmf::Stamp;

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
        let has_figures = detail.is_full() && has_figures(scenario);
        let found = has_figures.then(|| not_told(scenario, "there are no timestamps"));
        return found.into_iter().collect();
    }
    let clusters = run.cluster_heads();
    let clusters = clusters.map(|head| LastMan::find(run, scenario, run.cpu(head).cluster));
    if detail.is_full() {
        let each = clusters.map(|last| match last {
            Ok(last) => last.finding(run, &last.full(run)),
            Err(why) => not_told(scenario, &why),
        });
        return each.collect();
    }
    let known: Vec<_> = clusters.filter_map(Result::ok).collect();
    if known.len() <= CLUSTERS_MAX {
        return known.iter().map(|last| last.finding(run, "")).collect();
    }
    // One sentence for all: the tables have each.
    let flushes = words::range(known.iter().map(|last| last.flush));
    let others = known.iter().flat_map(|last| &last.others);
    let others = others_have(run, others.copied());
    let of_all = flushes.map(|flushes| {
        let (clusters, flushes) = (known.len(), run.clock().range(flushes));
        let sentence = format!(
            "Last men down in {clusters} clusters, by ENTER_HW_LOW_PWR: cache flush \
             {flushes}{others}."
        );
        let rows = known.iter().flat_map(|last| &last.rows);
        finding(sentence, rows.copied(), Confidence::Stamps)
    });
    of_all.into_iter().collect()
}

fn flush(row: &Row) -> Option<u64> {
    row.figures.cache_flush
}

fn has_figures(scenario: &Scenario) -> bool {
    scenario.rows.iter().any(|row| flush(row).is_some())
}

/// The last man of a cluster, its flush, and the others' flushes.
struct LastMan<'s> {
    cluster: u16,
    rows: Vec<&'s Row>,
    cpu: u16,
    flush: u64,
    others: Vec<u64>,
}

impl<'s> LastMan<'s> {
    /// Returns the last man of a cluster; or the reason why that is not known: a CPU
    /// without timestamps may be the one.
    fn find(run: &Run, scenario: &'s Scenario, cluster: u16) -> Result<Self, String> {
        let is_mine = |row: &&Row| run.cpu(row.cpu).cluster == cluster;
        let rows: Vec<_> = scenario.rows.iter().filter(is_mine).collect();
        let cpus = run.cpus.iter().filter(|cpu| cpu.cluster == cluster);
        if rows.len() < cpus.count() {
            return Err(format!("not all CPUs of cluster {cluster} have a row"));
        }
        let order = |row: &&Row| Some((row.went_down()?, row.cpu, flush(row)?));
        let known: Option<Vec<_>> = rows.iter().map(order).collect();
        let known = known.unwrap_or_default();
        let Some(last) = known.iter().max() else {
            return Err(format!("a CPU of cluster {cluster} has no timestamps"));
        };
        let others = known.iter().filter(|other| *other != last);
        Ok(Self {
            cluster,
            cpu: last.1,
            flush: last.2,
            others: others.map(|it| it.2).collect(),
            rows,
        })
    }

    /// Returns how often which CPU was last, if all rounds are known.
    fn how_often(&self, run: &Run) -> Option<String> {
        let rounds = self.rows.first()?.samples.len();
        if rounds < 2 || self.rows.len() < 2 {
            return None;
        }
        let mut counts = BTreeMap::<u16, usize>::new();
        for round in 0..rounds {
            let down = |row: &&Row| {
                let sample = row.samples.get(round)?;
                let down = Instant::Stamp(Stamp::EnterHwLowPwr);
                Some((sample.place, sample.instants.counter(down)?, row.cpu))
            };
            let all: Vec<_> = self.rows.iter().map(down).collect::<Option<_>>()?;
            let (place, _, last) = *all.iter().max()?;
            if all.iter().any(|it| it.0 != place) {
                return None;
            }
            *counts.entry(last).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(cpu, count)| (Reverse(*count), *cpu));
        let each = counts.iter().take(OFTEN_MAX);
        let each = each.map(|(cpu, count)| format!("CPU {} in {count}", run.label(*cpu)));
        Some(format!(" Of {rounds} rounds: {}.", words::list(each)))
    }

    /// Returns the sentences that reports add.
    fn full(&self, run: &Run) -> String {
        let median = lower_median(&mut self.others.clone());
        let mut more = String::new();
        if !self.others.is_empty() && self.flush > median {
            let ticks = run.clock().span(self.flush - median);
            more = format!(" It took {ticks} more than their median.");
        }
        more + &self.how_often(run).unwrap_or_default()
    }

    fn finding(&self, run: &Run, more: &str) -> Finding {
        let (cluster, cpu) = (self.cluster, run.label(self.cpu));
        let flush = run.clock().span(self.flush);
        let others = others_have(run, self.others.iter().copied());
        let sentence = format!(
            "Last man down in cluster {cluster}, by ENTER_HW_LOW_PWR: CPU {cpu}, cache flush \
             {flush}{others}.{more}"
        );
        finding(sentence, self.rows.iter().copied(), Confidence::Stamps)
    }
}

fn others_have(run: &Run, others: impl Iterator<Item = u64>) -> String {
    let others = words::range(others).map(|it| run.clock().range(it));
    others.map_or_else(String::new, |it| format!("; the others' {it}"))
}

fn finding<'r>(
    sentence: String,
    rows: impl Iterator<Item = &'r Row>,
    confidence: Confidence,
) -> Finding {
    Finding {
        metrics: vec![Metric::CacheFlush],
        confidence,
        ..Finding::by_counts(Kind::LastMan, sentence, rows.map(|row| row.cpu))
    }
}

fn not_told(scenario: &Scenario, why: &str) -> Finding {
    let sentence = format!(
        "Last man down: cannot be seen from figures alone, as {why}; the size of a flush is no \
         evidence of it."
    );
    Finding {
        kind: Kind::NotTold,
        ..finding(sentence, scenario.rows.iter(), Confidence::Unknown)
    }
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
    let is_suspend = scenario.id == ScenarioId::SuspendDeepSerial;
    if states.is_empty() && has_figures(scenario) && !has_stat && is_suspend {
        return vec![not_told(scenario, "there is no PSCI_STAT")];
    }
    if states.len() < 2 {
        return Vec::new();
    }
    let each = states.iter().map(|(state, rows)| {
        let flushes = words::range(rows.iter().filter_map(|row| flush(row)));
        let flushes = flushes.map(|it| format!(", cache flush {}", run.clock().range(it)));
        let flushes = flushes.unwrap_or_default();
        let cpus = words::cpus(run, rows.iter().map(|row| row.cpu));
        format!("CPU {cpus} reached {state:#010x}{flushes}")
    });
    let each = each.collect::<Vec<_>>().join("; ");
    let sentence = format!("By PSCI_STAT_COUNT, {each}.");
    let rows = states.values().flatten().copied();
    vec![finding(sentence, rows, Confidence::Counts)]
}
