//! Sentences that accompany the step tables: one for each curve in a sweep, one about attempts that
//! were not counted, and one each about omitted states and OS-initiated mode. The summary at the
//! end of the run lists omitted steps.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::findings::sentence_parts;
use crate::measure::Metric;
use crate::model::{Run, Scenario};
use crate::plan::{Axis, NotCounted, Variant};
use hardware::text::join::join;
use hardware::text::prose::paragraph;

/// Writes these sentences. Writes nothing for a scenario that is in TFTF's suite or has no results.
pub(crate) fn write_sweeps(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    if scenario.id.is_suite() || scenario.cells.is_empty() {
        return Ok(());
    }
    let mut sentences = curves(run, scenario);
    sentences.extend(not_counted(scenario));
    if let Some(conditions) = &scenario.conditions {
        for (what, why) in [
            ("States", conditions.states_left_out),
            ("OS-initiated mode", conditions.mode_left_out),
        ] {
            sentences.extend(why.map(|reason| format!("{what} left out: {reason}.")));
        }
    }
    if sentences.is_empty() {
        return Ok(());
    }
    for sentence in sentences {
        paragraph(out, "* ", 2, &sentence)?;
    }
    out.write_char('\n')
}

/// Returns a sentence for each curve, about the first metric that has values.
fn curves(run: &Run, scenario: &Scenario) -> Vec<String> {
    let axis = scenario.id.axis();
    let Some(amount) = axis.and_then(Axis::amount) else {
        return Vec::new();
    };
    // Dirty bytes affect only the flush.
    let flush = (axis == Some(Axis::Bytes)).then_some(Metric::CacheFlush);
    let curve = |variant: Variant| {
        let has_samples = |metric: &Metric| {
            scenario
                .cells
                .iter()
                .filter(|cell| cell.step.variant == variant)
                .any(|cell| cell.summary(*metric).is_some())
        };
        let mut metrics = flush.into_iter().chain(Metric::LEADING);
        let metric = metrics.find(has_samples)?;
        Some(format!(
            "{}: longest median of {} by {}: {}.",
            variant.word(),
            metric.key(),
            amount.name,
            longest_medians(run, scenario, variant, metric)
        ))
    };
    scenario.id.variants().filter_map(curve).collect()
}

/// Returns the longest median across the CPUs for each step, in step order.
fn longest_medians(run: &Run, scenario: &Scenario, variant: Variant, metric: Metric) -> String {
    let medians: Vec<(u64, u64)> = scenario
        .cells
        .iter()
        .filter(|cell| cell.step.variant == variant)
        .filter_map(|cell| {
            let series = cell.series_of(metric)?;
            Some((cell.step.value.unwrap_or(0), series.summary.median))
        })
        .collect();
    // The cells of a step are adjacent.
    let steps = medians
        .chunk_by(|(one, _), (other, _)| one == other)
        .map(|step| {
            let value = step[0].0;
            let longest = step.iter().map(|(_, median)| *median).max();
            format!("{value}: {}", run.clock().span(longest.unwrap_or(0)))
        });
    join(steps, ", ")
}

/// Counts the rejected attempts, by reason.
fn not_counted(scenario: &Scenario) -> Option<String> {
    if scenario.id.descriptor().not_counted != NotCounted::ByReason {
        return None;
    }
    let total: u64 = scenario.rejected().map(|(_, count)| count).sum();
    let by_reason = scenario
        .rejected()
        .map(|(reason, count)| format!("{count} {}", reason.key()));
    (total > 0).then(|| sentence_parts::not_counted_sentence(total, &join(by_reason, ", ")))
}
