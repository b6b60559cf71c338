//! Sentences beside the tables of points: one for each curve of a sweep, the attempts that
//! do not count, and the states that were left out. (The end of the run lists the steps that
//! were.)

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::output::prose::paragraph;
use hardware::text::plural::Many;
use run::measure::Metric;
use run::model::{Run, Scenario, Variant};
use run::plan::Axis;

/// Writes them; nothing for a scenario without points.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    if scenario.points.is_empty() {
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

/// Returns a sentence for each curve: of the first measure that has figures.
fn curves(run: &Run, scenario: &Scenario) -> Vec<String> {
    let (first, x) = match scenario.id.axis() {
        Some(Axis::Bytes) => (Metric::CacheFlush, "bytes"),
        Some(Axis::Cpus) => (Metric::Powerdown, "CPUs"),
        Some(Axis::PowerState) | None => return Vec::new(),
    };
    let curve = |variant: Variant| {
        let has_figures = |measure: &Metric| {
            let mut points = scenario.points.iter();
            points.any(|it| it.variant == variant && it.measure == *measure)
        };
        let measures = [first, Metric::Call, Metric::TurnOff];
        let measure = measures.into_iter().find(has_figures)?;
        let (word, key) = (variant.word(), measure.key());
        let steps = steps(run, scenario, variant, measure);
        Some(format!("{word}: longest median of {key} by {x}: {steps}."))
    };
    let variants = [Variant::Deepest, Variant::Core, Variant::Off];
    variants.into_iter().filter_map(curve).collect()
}

/// Returns the longest median over the CPUs of each step, in the steps' order.
fn steps(run: &Run, scenario: &Scenario, variant: Variant, measure: Metric) -> String {
    let points = scenario.points.iter();
    let of_curve = points.filter(|it| it.variant == variant && it.measure == measure);
    // The points of a step stand together.
    let of_curve: Vec<_> = of_curve.collect();
    let each = of_curve.chunk_by(|a, b| a.x == b.x).map(|step| {
        let longest = step.iter().map(|it| it.figures.median).max();
        let longest = run.clock().span(longest.unwrap_or(0));
        format!("{}: {longest}", step[0].x.unwrap_or(0))
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Counts the attempts that do not count, by reason.
fn not_counted(scenario: &Scenario) -> Option<String> {
    let rejected = scenario.rejected.iter();
    let all: u64 = rejected.clone().map(|it| u64::from(it.1)).sum();
    let each = rejected.map(|(reason, count)| format!("{count} {}", reason.key()));
    let (attempts, each) = (Many(all, "attempt"), each.collect::<Vec<_>>().join(", "));
    (all > 0).then(|| format!("Not counted: {attempts}: {each}."))
}
