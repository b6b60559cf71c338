//! The findings of a scenario: the payload's, and those that need more than a
//! board's integers.

use psci_bench::findings::{Detail, findings_of};
use psci_bench::measure::Metric;
use psci_bench::model::{Confidence, Finding, Kind, Row, Run, Scenario, Statistic, heading};

use super::points::{contention, dirty_flush, net_of_loop};
use super::words::{NOT_VERIFIED, RECORDS_LOST};
use crate::report::log::LoggedRun;

/// Returns the findings of a scenario: the payload's with more detail, or as far as they can
/// be made anew where records are lost.
pub fn findings(run: &LoggedRun, scenario: &Scenario) -> Vec<Finding> {
    let mut all = match run.integrity.records.is_none() || run.integrity.is_whole() {
        true => findings_of(&run.run, scenario, Detail::Full),
        false => scenario.findings.clone(),
    };
    let own = [outliers, net_of_loop, contention, dirty_flush];
    all.extend(own.iter().flat_map(|find| find(&run.run, scenario)));
    let all = all.into_iter();
    all.map(|it| with_doubts(run, scenario, it)).collect()
}

/// Adds a sentence if a finding rests on rows that are not verified, or on what is left of
/// the records.
fn with_doubts(run: &LoggedRun, scenario: &Scenario, mut finding: Finding) -> Finding {
    let is_doubtful = |cpu| scenario.row(cpu).is_some_and(|row| run.is_doubtful(row));
    if finding.cpus.iter().any(is_doubtful) {
        finding.sentence += NOT_VERIFIED;
    } else if run.integrity.records.is_some() && !run.integrity.is_whole() {
        finding.sentence += RECORDS_LOST;
    }
    finding
}

/// The fewest samples of which one can be far from the others.
const SAMPLES_MIN: u32 = 6;

/// Names the rows with outliers.
///
/// A sample is an outlier by the modified z-score of Iglewicz and Hoaglin, "How to
/// Detect and Handle Outliers", ASQC Quality Press (1993): farther from the median
/// than 3.5 times 1.4826 MAD. It also has to be farther than three ticks and a tenth
/// of the median, as MAD is often 0.
fn outliers(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    let rows = scenario.rows.iter();
    let each = rows.flat_map(|row| row.statistics.iter().map(move |it| (row, it)));
    // A CPU's place in a queue, and so its figures, change from round to round.
    let is_of_one_kind = |metric| !scenario.id.is_parallel() || metric == Metric::Latency;
    each.filter(|it| is_of_one_kind(it.1.metric))
        .filter_map(|(row, statistic)| outlier(run, row, statistic))
        .collect()
}

fn outlier(run: &Run, row: &Row, statistic: &Statistic) -> Option<Finding> {
    let (metric, summary) = (statistic.metric, &statistic.summary);
    let score = (3.5 * 1.4826 * summary.mad as f64).ceil() as u64;
    // The greatest distance of a sample from the median that is no outlier's.
    let limit = score.max(3).max(summary.median / 10);
    if summary.n < SAMPLES_MIN {
        return None;
    }
    let is_far = |ticks: &u64| ticks.abs_diff(summary.median) > limit;
    let extremes = [summary.max, summary.min].into_iter().filter(is_far);
    let farthest = extremes.max_by_key(|it| it.abs_diff(summary.median))?;
    let samples = row.samples.iter();
    let figures = samples.filter_map(|it| it.instants.figure(metric));
    let count = figures.filter(is_far).count();
    let is_whole = u32::try_from(row.samples.len()) == Ok(summary.n);
    let of = match count > 0 && is_whole {
        true => format!("{count} of {} samples", summary.n),
        false => format!("of {} samples at least one", summary.n),
    };
    let clock = run.clock();
    Some(Finding {
        kind: Kind::Outlier,
        sentence: format!(
            "Outliers: {of} of {} on CPU {} far from the others, the farthest {} against a \
             median of {}, MAD {}.",
            heading(metric),
            run.label(row.cpu),
            clock.span(farthest),
            clock.span(summary.median),
            clock.span(summary.mad)
        ),
        cpus: [row.cpu].into_iter().collect(),
        metrics: vec![metric],
        confidence: Confidence::Counts,
    })
}
