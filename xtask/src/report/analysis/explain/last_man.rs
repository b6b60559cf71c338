//! Who was the last man down in each cluster, and what his flush cost.
//!
//! Together, by the order of ENTER_HW_LOW_PWR; in sequence, by what
//! PSCI_STAT says was reached. Never by the size of a flush: a large one would
//! otherwise be its own explanation.

use std::collections::BTreeMap;

use psci_bench::measure::Metric;
use psci_bench::plan::ScenarioId;
use psci_bench::spec::pmf::Stamp;

use super::finding::{Confidence, Finding, Kind, Side, basis};
use crate::report::model::words::{cpus, range, span};
use crate::report::model::{Instants, Point, Row, Run, Term, Test};

/// When a CPU went down.
pub(super) const DOWN: Point = Point::Stamp(Stamp::EnterHwLowPwr);

pub(super) fn last_man(run: &Run, test: &Test) -> Vec<Finding> {
    if test.pmf == Some(false) || test.rows.iter().all(|row| row.figures.is_empty()) {
        return Vec::new();
    }
    match test.scenario.known() {
        Some(ScenarioId::SuspendDeepParallel) => together(run, test),
        Some(ScenarioId::SuspendDeepSerial | ScenarioId::CpuOffSerial) => in_sequence(run, test),
        _ => Vec::new(),
    }
}

fn flush(row: &Row) -> Option<u64> {
    row.figure(&Term::Known(Metric::CacheFlush))
}

fn together(run: &Run, test: &Test) -> Vec<Finding> {
    if test.rows.iter().all(|row| row.event.is_none()) {
        return vec![not_told(run, test, "there are no timestamps")];
    }
    let mut clusters: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
    for row in &test.rows {
        let cluster = run.cpus.get(row.cpu).map_or(0, |cpu| cpu.cluster);
        clusters.entry(cluster).or_default().push(row);
    }
    let each = clusters.iter();
    each.map(|(cluster, rows)| in_cluster(run, test, *cluster, rows))
        .collect()
}

/// The last of `rows` to go down, and the others; None where one of them has
/// no timestamps: it may be the one.
fn order<'r>(rows: &[&'r Row]) -> Option<(&'r Row, Vec<&'r Row>)> {
    let mut order = Vec::new();
    for row in rows {
        order.push((row.event.as_ref()?.counter(DOWN)?, row.cpu, *row));
    }
    order.sort_by_key(|it| (it.0, it.1));
    let last = order.pop()?.2;
    Some((last, order.into_iter().map(|it| it.2).collect()))
}

fn in_cluster(run: &Run, test: &Test, cluster: u32, rows: &[&Row]) -> Finding {
    let of_cluster = run.cpus.iter().filter(|cpu| cpu.cluster == cluster).count();
    if rows.len() < of_cluster {
        let why = format!("not all CPUs of cluster {cluster} have a row");
        return not_told(run, test, &why);
    }
    let ordered = order(rows).and_then(|(last, others)| Some((last, flush(last)?, others)));
    let Some((last, own, others)) = ordered else {
        let lack = |row: &&&Row| row.event.as_ref().and_then(|it| it.counter(DOWN)).is_none();
        let lack = cpus(run, rows.iter().filter(lack).map(|row| row.cpu));
        return not_told(
            run,
            test,
            &format!("{lack} in cluster {cluster} has no timestamps"),
        );
    };
    let mut sentence = format!(
        "Last man down in cluster {cluster}, by ENTER_HW_LOW_PWR: CPU {}, cache flush {}",
        run.label(last.cpu),
        span(run, own)
    );
    let mut flushes: Vec<u64> = others.iter().filter_map(|row| flush(row)).collect();
    if !flushes.is_empty() {
        sentence.push_str(&format!(
            "; the others' {}",
            range(run, flushes.iter().copied())
        ));
    }
    sentence.push('.');
    let median = psci_bench::measure::lower_median(&mut flushes);
    if !flushes.is_empty() && own > median {
        sentence.push_str(&format!(
            " It cost him {} more than their median.",
            span(run, own - median)
        ));
    }
    sentence.push_str(&how_often(run, rows));
    let row = |row: &&Row| basis(Side::Run, run, test, row.cpu, Some(Metric::CacheFlush));
    Finding {
        kind: Kind::LastMan,
        sentence,
        basis: rows.iter().map(row).collect(),
        confidence: Confidence::Stamps,
    }
}

/// Who was last in how many of the rounds, where all of them are there.
fn how_often(run: &Run, rows: &[&Row]) -> String {
    let rounds = rows.first().map_or(0, |row| row.samples.len());
    if rounds < 2 || rows.len() < 2 || rows.iter().any(|row| row.samples.len() != rounds) {
        return String::new();
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for round in 0..rounds {
        let down = |row: &&&Row| -> Option<(u32, u64)> {
            let sample = row.samples.get(round)?;
            Some((sample.place, Instants::counter(&sample.instants, DOWN)?))
        };
        let all: Option<Vec<_>> = rows
            .iter()
            .map(|row| Some((down(&row)?, row.cpu)))
            .collect();
        let Some(all) = all else { return String::new() };
        let place = all.first().map(|it| it.0.0);
        if all.iter().any(|it| Some(it.0.0) != place) {
            return String::new();
        }
        if let Some(last) = all.iter().max_by_key(|it| (it.0.1, it.1)) {
            *counts.entry(last.1).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|it| (std::cmp::Reverse(it.1), it.0));
    let each = counts.iter().take(4);
    let each = each.map(|(cpu, count)| format!("CPU {} in {count}", run.label(*cpu)));
    format!(
        " Of {rounds} rounds: {}.",
        each.collect::<Vec<_>>().join(", ")
    )
}

fn not_told(run: &Run, test: &Test, why: &str) -> Finding {
    let row = |row: &Row| basis(Side::Run, run, test, row.cpu, Some(Metric::CacheFlush));
    Finding {
        kind: Kind::NotTold,
        sentence: format!(
            "Last man down: can not be told from figures alone, as {why}; the size of a flush is \
             no evidence of it."
        ),
        basis: test.rows.iter().map(row).collect(),
        confidence: Confidence::Unknown,
    }
}

/// The states that were reached, where they are several, and their flushes.
fn in_sequence(run: &Run, test: &Test) -> Vec<Finding> {
    let mut states: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
    for row in &test.rows {
        if let Some(state) = row.reached.and_then(|reached| reached.state) {
            states.entry(state).or_default().push(row);
        }
    }
    if states.is_empty()
        && test.scenario.is(ScenarioId::SuspendDeepSerial)
        && !run.facts.stat.unwrap_or(false)
    {
        return vec![not_told(run, test, "there is no PSCI_STAT")];
    }
    if states.len() < 2 {
        return Vec::new();
    }
    let each = states.iter().map(|(state, rows)| {
        let flushes: Vec<u64> = rows.iter().filter_map(|row| flush(row)).collect();
        format!(
            "{} reached {state:#010x}, cache flush {}",
            cpus(run, rows.iter().map(|row| row.cpu)),
            range(run, flushes.iter().copied())
        )
    });
    let sentence = format!(
        "By PSCI_STAT_COUNT, {}.",
        each.collect::<Vec<_>>().join("; ")
    );
    let rows = states.values().flatten();
    let row = |row: &&Row| basis(Side::Run, run, test, row.cpu, Some(Metric::CacheFlush));
    vec![Finding {
        kind: Kind::LastMan,
        sentence,
        basis: rows.map(row).collect(),
        confidence: Confidence::Counts,
    }]
}
