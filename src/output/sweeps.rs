//! Sentences on sweeps beside their tables: one for each curve, and what was left
//! out.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::findings::list;
use crate::model::{Measure, Run, Scenario, Variant};
use crate::plan::ScenarioId;
use crate::spec::prose::{Many, paragraph};

/// Writes them; nothing of any other scenario.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    if scenario.points.is_empty() || !scenario.id.is_sweep() {
        return Ok(());
    }
    let mut items = curves(run, scenario);
    if scenario.id == ScenarioId::ContendSweep {
        items.extend(beyond(run));
        items.extend(kept_awake(run, scenario));
    }
    items.extend(not_counted(scenario));
    if let Some(conditions) = &scenario.conditions {
        for (what, why) in [
            ("States", conditions.states_left_out),
            ("OS-initiated mode", conditions.mode_left_out),
        ] {
            items.extend(why.map(|why| format!("{what} left out: {why}.")));
        }
    }
    for item in items {
        paragraph(out, "* ", 2, &item)?;
    }
    out.write_char('\n')
}

/// Returns a sentence for each curve: of the first measure that has figures.
fn curves(run: &Run, scenario: &Scenario) -> Vec<String> {
    let (first, x) = match scenario.id {
        ScenarioId::DirtySweep => (Measure::CacheFlush, "bytes"),
        ScenarioId::ContendSweep => (Measure::Powerdown, "CPUs"),
        _ => return Vec::new(),
    };
    let curve = |variant: Variant| {
        let has_figures = |measure: &Measure| {
            let mut points = scenario.points.iter();
            points.any(|it| it.variant == variant && it.measure == *measure)
        };
        let measures = [first, Measure::Call, Measure::TurnOff];
        let measure = measures.into_iter().find(has_figures)?;
        let (word, key) = (variant.word(), measure.key());
        let steps = steps(run, scenario, variant, measure);
        Some(format!("{word}: longest median of {key} by {x}: {steps}."))
    };
    let variants = [Variant::Deepest, Variant::Core, Variant::Off];
    variants.into_iter().filter_map(curve).collect()
}

/// Returns the longest median over the CPUs of each step, in the steps' order.
fn steps(run: &Run, scenario: &Scenario, variant: Variant, measure: Measure) -> String {
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

/// Names the steps of `contend=` that are more than there are CPUs.
fn beyond(run: &Run) -> Option<String> {
    let (steps, cpus) = (run.plan?.contend?, run.cpus.len());
    let steps = steps.as_slice().iter();
    let mut beyond = steps.filter(|step| **step as usize > cpus).peekable();
    beyond.peek()?;
    let (steps, cpus) = (list(beyond), Many(cpus as u64, "CPU"));
    Some(format!(
        "Steps of contend= left out: {steps}, as there are {cpus}."
    ))
}

/// Names the step of all CPUs, for each state that lacks it as a CPU stays awake.
fn kept_awake(run: &Run, scenario: &Scenario) -> Vec<String> {
    let all = run.cpus.len() as u64;
    let has = |variant: Variant, x: Option<u64>| {
        let mut points = scenario.points.iter().filter(|it| it.variant == variant);
        points.any(|point| x.is_none() || point.x == x)
    };
    let lacks_all = |variant: &Variant| {
        has(Variant::LeftOut, Some(all)) && has(*variant, None) && !has(*variant, Some(all))
    };
    let variants = [Variant::Deepest, Variant::Core].into_iter();
    let each = variants.filter(lacks_all).map(|variant| {
        format!(
            "{}: step {all} left out, as one of the {} stays awake.",
            variant.word(),
            Many(all, "CPU")
        )
    });
    each.collect()
}

/// Counts the attempts that do not count, by reason.
fn not_counted(scenario: &Scenario) -> Option<String> {
    let rejected = scenario.rejected.iter();
    let all: u64 = rejected.clone().map(|it| u64::from(it.1)).sum();
    let each = rejected.map(|(reason, count)| format!("{count} {}", reason.key()));
    let (attempts, each) = (Many(all, "attempt"), each.collect::<Vec<_>>().join(", "));
    (all > 0).then(|| format!("Not counted: {attempts}: {each}."))
}
