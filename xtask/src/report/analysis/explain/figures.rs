//! The tick against the figure, and samples far from the others.
//!
//! A sample is called an outlier by the modified z-score of Iglewicz and
//! Hoaglin, "How to Detect and Handle Outliers", ASQC Quality Press (1993):
//! farther from the median than 3.5 times 1.4826 MAD. Besides it has to be
//! farther than three ticks and a tenth of the median, as MAD is often 0.

use psci_bench::findings::limits::COARSE;
use psci_bench::measure::{Metric, Summary};
use psci_bench::plan::ScenarioId;

use super::finding::{Basis, Confidence, Finding, Kind, Side, basis};
use crate::report::model::words::span;
use crate::report::model::{Row, Run, Test, heading};
use crate::setup::plural::plural;

/// Fewer ticks than this, and a tick is a tenth of the figure or more.
const TOO_FEW: u64 = 10;
/// The fewest samples of which one can be far from the others.
const SAMPLES_MIN: u32 = 6;

/// The tick of a run in nanoseconds, at least: of its counter or, where there
/// are figures alone, what all of them are multiples of.
#[must_use]
pub(in crate::report) fn tick_ns(run: &Run) -> Option<u64> {
    if run.integrity.records.is_some() {
        return run.clock().tick_ps().map(|ps| ps.div_ceil(1000).max(1));
    }
    let rows = run.tests.iter().flat_map(|test| &test.rows);
    let mut all: Vec<u64> = rows.flat_map(|row| &row.figures).map(|it| it.1).collect();
    all.retain(|figure| *figure > 0);
    all.sort_unstable();
    all.dedup();
    // Few numbers have a common divisor by chance.
    let divisor = all.iter().copied().fold(0, gcd);
    (all.len() >= 8 && divisor > 1).then_some(divisor)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(super) fn resolution(run: &Run, test: &Test) -> Vec<Finding> {
    let has_records = run.integrity.records.is_some();
    // Figures alone are in nanoseconds.
    let tick = if has_records {
        1
    } else {
        tick_ns(run).unwrap_or(0)
    };
    let columns = test.columns();
    let each = columns.iter().filter_map(|metric| {
        let rows = test.rows.iter();
        let all = rows.filter_map(|row| Some((row.figure(metric)?.checked_div(tick)?, row)));
        let all: Vec<(u64, &Row)> = all.filter(|it| it.0 > 0).collect();
        let (least, most) = (
            all.iter().map(|it| it.0).min()?,
            all.iter().map(|it| it.0).max()?,
        );
        if least >= COARSE {
            return None;
        }
        let mut sentence = format!("Resolution: {} is {least}", heading(metric));
        if most > least {
            sentence.push_str(&format!(" to {most}"));
        }
        sentence.push(' ');
        sentence.push_str(&plural(most as usize, "tick"));
        match run.clock().tick_ps() {
            _ if !has_records => {
                sentence.push_str(&format!(" of {tick} ns, which divide all figures"));
            }
            Some(ps) => sentence.push_str(&format!(" of {}.{:02} ns", ps / 1000, ps % 1000 / 10)),
            None => {}
        }
        sentence.push_str(&format!(
            "; a tick more or less is {} % of the least.",
            100u64.checked_div(least).unwrap_or(0)
        ));
        if least < TOO_FEW {
            sentence.push_str(match test.scenario.known() {
                Some(ScenarioId::PsciVersionParallel) => {
                    " One call is too short for this counter: only many in a row tell what one \
                     costs."
                }
                _ => " It is below what this counter resolves.",
            });
        }
        let metric = metric.known();
        Some(Finding {
            kind: Kind::Resolution,
            sentence,
            basis: all
                .iter()
                .map(|it| basis(Side::Run, run, test, it.1.cpu, metric))
                .collect(),
            confidence: if has_records {
                Confidence::Counts
            } else {
                Confidence::Figures
            },
        })
    });
    each.collect()
}

pub(super) fn outliers(run: &Run, test: &Test) -> Vec<Finding> {
    let mut all = Vec::new();
    for row in &test.rows {
        for (metric, summary) in &row.summaries {
            let Some(known) = metric.known().filter(|it| is_of_one_kind(test, *it)) else {
                continue;
            };
            let Some(limit) = limit(summary) else {
                continue;
            };
            let far = |ticks: u64| ticks.abs_diff(summary.median) > limit;
            if !far(summary.max) && !far(summary.min) {
                continue;
            }
            let samples = row.samples.iter();
            let count = samples
                .filter_map(|it| it.instants.figure(known))
                .filter(|it| far(*it))
                .count();
            let extremes = [summary.max, summary.min].into_iter();
            let extreme = extremes
                .max_by_key(|it| it.abs_diff(summary.median))
                .unwrap_or(0);
            let whole = u32::try_from(row.samples.len()) == Ok(summary.n);
            let of = if count > 0 && whole {
                format!("{count} of {} samples", summary.n)
            } else {
                format!("of {} samples at least one", summary.n)
            };
            all.push(Finding {
                kind: Kind::Outlier,
                sentence: format!(
                    "Outliers: {of} of {} on CPU {} far from the others, the farthest {} against \
                     a median of {}, MAD {}.",
                    heading(metric),
                    run.label(row.cpu),
                    span(run, extreme),
                    span(run, summary.median),
                    span(run, summary.mad)
                ),
                basis: vec![Basis {
                    metric: Some(metric.clone()),
                    ..basis(Side::Run, run, test, row.cpu, None)
                }],
                confidence: Confidence::Counts,
            });
        }
    }
    all
}

/// Whether all samples of a CPU are of one thing: a CPU's place in a queue, and
/// so its figures, change from round to round.
fn is_of_one_kind(test: &Test, metric: Metric) -> bool {
    metric != Metric::Lateness && (!test.is_parallel() || metric == Metric::Latency)
}

/// How far from the median a sample may be.
fn limit(summary: &Summary) -> Option<u64> {
    let score = (3.5 * 1.4826 * summary.mad as f64).ceil() as u64;
    (summary.n >= SAMPLES_MIN).then_some(score.max(3).max(summary.median / 10))
}
