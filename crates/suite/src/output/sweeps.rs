//! Sentences that accompany the step tables: one for each curve in a sweep, one about attempts that
//! were not counted, and one each about omitted states and OS-initiated mode. Omitted steps are
//! listed at the end of the run.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::Metric;
use crate::model::{Run, Scenario};
use crate::plan::NotCounted;
use crate::plan::{Axis, Variant};
use hardware::text::join::join;
use hardware::text::plural::Many;
use hardware::text::prose::paragraph;

/// Writes these sentences. Writes nothing for a scenario that is in TFTF's suite or has no results.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    if scenario.id.is_suite() || scenario.cells.is_empty() {
        return Ok(());
    }
    let mut items = curves(run, scenario);
    items.extend(not_counted(scenario));
    if let Some(conditions) = &scenario.conditions {
        for (what, why) in [
            ("States", conditions.states_left_out),
            ("OS-initiated mode", conditions.mode_left_out),
        ] {
            items.extend(why.map(|why| format!("{what} left out: {why}.")));
        }
    }
    if items.is_empty() {
        return Ok(());
    }
    for item in items {
        paragraph(out, "* ", 2, &item)?;
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
        let has_figures = |metric: &Metric| {
            let mut own = scenario
                .cells
                .iter()
                .filter(|it| it.step.variant == variant);
            own.any(|it| {
                it.series_of(*metric)
                    .is_some_and(|series| series.summary.n > 0)
            })
        };
        let metrics = flush.into_iter().chain(Metric::LEADING);
        let metric = metrics.into_iter().find(has_figures)?;
        let (word, key, x) = (variant.word(), metric.key(), amount.name);
        let steps = steps(run, scenario, variant, metric);
        Some(format!("{word}: longest median of {key} by {x}: {steps}."))
    };
    scenario.id.variants().filter_map(curve).collect()
}

/// Returns the longest median across the CPUs for each step, in step order.
fn steps(run: &Run, scenario: &Scenario, variant: Variant, metric: Metric) -> String {
    let own = scenario
        .cells
        .iter()
        .filter(|it| it.step.variant == variant);
    let of_curve = own.filter_map(|it| Some((it.step.value, it.series_of(metric)?)));
    // The cells of a step are adjacent.
    let of_curve: Vec<_> = of_curve.collect();
    let each = of_curve.chunk_by(|a, b| a.0 == b.0).map(|step| {
        let longest = step.iter().map(|it| it.1.summary.median).max();
        let longest = run.clock().span(longest.unwrap_or(0));
        format!("{}: {longest}", step[0].0.unwrap_or(0))
    });
    join(each, ", ")
}

/// Counts the rejected attempts, by reason.
fn not_counted(scenario: &Scenario) -> Option<String> {
    if scenario.id.descriptor().not_counted != NotCounted::ByReason {
        return None;
    }
    let all: u64 = scenario.rejected().map(|it| it.1).sum();
    let each = scenario.rejected();
    let each = each.map(|(reason, count)| format!("{count} {}", reason.key()));
    let (attempts, each) = (Many(all, "attempt"), join(each, ", "));
    (all > 0).then(|| format!("Not counted: {attempts}: {each}."))
}
