//! What is said of sweeps beside their tables: a line for each curve, and what
//! was left out.

use core::fmt::{self, Write};

use super::status::skipped;
use crate::findings::item::item;
use crate::measure::Reason;
use crate::model::{LEFT_OUT, Measure, Run, TestReport};
use crate::plan::ScenarioId;
use crate::spec::prose::{Many, Prose, listed};

/// Writes it; nothing of any other scenario.
pub(crate) fn write(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> fmt::Result {
    if test.points.is_empty() || !test.scenario.is_sweep() {
        return Ok(());
    }
    // What the curve is of: the first that there are figures of.
    let (measures, x) = match test.scenario {
        ScenarioId::DirtySweep => (
            [Measure::CacheFlush, Measure::Call, Measure::TurnOff],
            "bytes",
        ),
        _ => (
            [Measure::Powerdown, Measure::Call, Measure::TurnOff],
            "CPUs",
        ),
    };
    if matches!(
        test.scenario,
        ScenarioId::DirtySweep | ScenarioId::ContendSweep
    ) {
        for variant in ["deepest", "core", "off"] {
            let of = |measure: &Measure| {
                let mut points = test.points.iter();
                points.any(|p| p.variant == variant && p.measure == *measure)
            };
            if let Some(measure) = measures.into_iter().find(of) {
                item(out, &mut |prose| {
                    write!(
                        prose,
                        "{variant}: longest median of {} by {x}:",
                        measure.key()
                    )?;
                    curve(prose, run, test, variant, measure)
                })?;
            }
        }
    }
    if let (ScenarioId::ContendSweep, Some(steps)) = (test.scenario, run.plan.contend) {
        let there_are = run.cpus.len();
        let beyond = steps.as_slice().iter();
        let beyond = beyond.filter(|step| **step as usize > there_are);
        if beyond.clone().next().is_some() {
            item(out, &mut |prose| {
                prose.write_str("Steps of contend= left out: ")?;
                listed(prose, &mut beyond.clone())?;
                write!(prose, ", as there are {}.", Many(there_are as u64, "CPU"))
            })?;
        }
    }
    if test.scenario == ScenarioId::ContendSweep {
        kept_awake(out, run, test)?;
    }
    let rejected: u64 = test.rejected.iter().map(|count| u64::from(*count)).sum();
    if rejected > 0 {
        item(out, &mut |prose| {
            write!(prose, "Not counted: {}", Many(rejected, "attempt"))?;
            let mut mark = ": ";
            for (reason, count) in Reason::ALL.into_iter().zip(test.rejected) {
                if count > 0 {
                    write!(prose, "{mark}{} {}", u64::from(count), reason.key())?;
                    mark = ", ";
                }
            }
            prose.write_str(".")
        })?;
    }
    for (what, why) in ["States", "OS-initiated mode"]
        .into_iter()
        .zip(test.left_out)
    {
        if let Some(why) = why {
            item(out, &mut |prose| {
                write!(prose, "{what} left out: ")?;
                skipped(prose, why)?;
                prose.write_str(".")
            })?;
        }
    }
    out.write_char('\n')
}

/// Names the step of all CPUs, where a state lacks it, as one of them stays awake.
fn kept_awake(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> fmt::Result {
    let all = run.cpus.len() as u64;
    let has = |variant: &str, x: Option<u64>| {
        let mut points = test.points.iter().filter(|it| it.variant == variant);
        points.any(|point| x.is_none() || point.x == x)
    };
    if !has(LEFT_OUT, Some(all)) {
        return Ok(());
    }
    for variant in ["deepest", "core"] {
        if has(variant, None) && !has(variant, Some(all)) {
            item(out, &mut |prose| {
                write!(
                    prose,
                    "{variant}: step {all} left out, as one of the {} stays awake.",
                    Many(all, "CPU")
                )
            })?;
        }
    }
    Ok(())
}

/// The longest median over the CPUs of each step, in the steps' order.
fn curve(
    prose: &mut Prose<'_>,
    run: &Run<'_>,
    test: &TestReport<'_>,
    variant: &str,
    measure: Measure,
) -> fmt::Result {
    let mut mark = " ";
    let mut steps = test
        .points
        .iter()
        .filter(|p| p.variant == variant && p.measure == measure)
        .peekable();
    // The points of a step stand together.
    while let Some(first) = steps.next() {
        let mut longest = first.figures.median;
        while let Some(point) = steps.next_if(|point| point.x == first.x) {
            longest = longest.max(point.figures.median);
        }
        let x = first.x.unwrap_or(0);
        write!(prose, "{mark}{x}: {}", run.unit().span(longest))?;
        mark = ", ";
    }
    prose.write_str(".")
}
