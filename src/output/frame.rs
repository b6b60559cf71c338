//! The lines that programs made for TFTF look for, exactly as TFTF prints
//! them.
//!
//! * LAVA jobs follow `> Executing '...'` and `TEST COMPLETE`, from
//!   `Booting trusted firmware test framework` to `Exiting tests.`.
//! * Scripts collect `<RT_INSTR:TAG\tCLUSTER\tCORE\t.../>` in unsigned
//!   nanoseconds, and either average rows of one CPU or pair rows by
//!   position: so there is one row a CPU and scenario, in MPIDR's order.
//! * Expect scripts read `Tests Failed  : 0` and the like.
//!
//! A scenario without PMF's timestamps, or without a frequency to tell them
//! in nanoseconds, has no such rows. The frame calls it Skipped, as TFTF
//! would; psci-bench's own tables below may still have figures for it.

use core::fmt::{self, Write};

use super::status;
use crate::model::run::{Run, is_framed};
use crate::model::{Figures, Row, Status, TestReport, report};
use crate::plan::ScenarioId;
use crate::spec::prose::paragraph;
use crate::spec::ticks::Clock;

/// The first two lines of the frame.
pub(crate) fn begin(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let level = u64::from(run.facts.exception_level);
    out.write_str("NOTICE:  Booting trusted firmware test framework\n")?;
    writeln!(out, "NOTICE:  Running at NS-EL{level}")
}

/// What comes before a scenario is measured.
pub(crate) fn begin_test(out: &mut dyn Write, scenario: ScenarioId) -> fmt::Result {
    writeln!(out, "> Executing '{}'", scenario.name())
}

/// One scenario's rows and result: one row for each CPU, over all placements of
/// the helper.
pub(crate) fn test(out: &mut dyn Write, run: &Run<'_>, group: &[TestReport<'_>]) -> fmt::Result {
    let cluster = |cpu: u16| run.cpu(cpu.into()).cluster;
    for cpu in 0..run.cpus.len() as u16 {
        if let Some((test, row)) = report::row_of(group, cpu, &cluster) {
            rt_instr(out, run, test, row)?;
        }
    }
    let result = result(run, group);
    writeln!(out, "  TEST COMPLETE {:>54}", result.word())?;
    match (result, report::status(group)) {
        (Outcome::Skipped, Status::Passed | Status::Failed(_)) => no_rows(out, run),
        (_, status) => status::why(out, run, status),
    }
}

/// The counts of all scenarios that were framed.
pub(crate) fn summary(out: &mut dyn Write, run: &Run<'_>, tests: &[TestReport<'_>]) -> fmt::Result {
    let (mut skipped, mut passed, mut failed) = (0u64, 0u64, 0u64);
    let same =
        |a: &TestReport<'_>, b: &TestReport<'_>| (a.scenario, a.method) == (b.scenario, b.method);
    let framed = |group: &&[TestReport<'_>]| {
        group
            .iter()
            .all(|test| is_framed(test.scenario, test.method))
    };
    for group in tests.chunk_by(same).filter(framed) {
        match result(run, group) {
            Outcome::Skipped => skipped += 1,
            Outcome::Passed => passed += 1,
            Outcome::Failed => failed += 1,
        }
    }
    let total = skipped + passed + failed;
    let suite = if failed == 0 { "Passed" } else { "Failed" };
    out.write_str(
        "******************************* Summary *******************************\n\
         > Test suite 'Runtime Instrumentation Validation'\n",
    )?;
    write!(
        out,
        "{suite:>70}\n\
         =================================\n\
         Tests Skipped : {skipped}\n\
         Tests Passed  : {passed}\n\
         Tests Failed  : {failed}\n\
         Tests Crashed : 0\n\
         Total tests   : {total}\n\
         =================================\n"
    )
}

/// A scenario's result as TFTF knows it.
#[derive(Clone, Copy)]
enum Outcome {
    Skipped,
    Passed,
    Failed,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Skipped => "Skipped",
            Self::Passed => "Passed",
            Self::Failed => "Failed",
        }
    }
}

fn result(run: &Run<'_>, group: &[TestReport<'_>]) -> Outcome {
    let has_rows = group.iter().all(|test| test.pmf) && run.unit().0.is_known();
    match report::status(group) {
        Status::Failed(_) => Outcome::Failed,
        Status::Passed if has_rows => Outcome::Passed,
        Status::Passed | Status::Skipped(_) => Outcome::Skipped,
    }
}

/// Says why a scenario that was measured has no rows here.
fn no_rows(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    paragraph(out, "  ", 4, &mut |line| match run.facts.pmf {
        Err(error) => write!(
            line,
            "Skipped: no PMF timestamps: {error}; the caller's view is below"
        ),
        Ok(_) => write!(
            line,
            "Skipped: no nanoseconds, as {} Hz can not be right; ticks are below",
            run.facts.frequency
        ),
    })
}

fn rt_instr(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>, row: &Row) -> fmt::Result {
    let values = nanoseconds(run.unit().0, test, &row.figures);
    let Some(values) = values.filter(|_| row.skipped.is_none()) else {
        return Ok(());
    };
    let cpu = run.cpu(row.cpu.into());
    let (tag, core) = (test.scenario.tag(), run.core_number(cpu));
    write!(out, "<RT_INSTR:{tag}\t{}\t{core}", u64::from(cpu.cluster))?;
    match values {
        [latency, None, None] => write!(out, "\t{}", latency.unwrap_or(0))?,
        values => {
            for value in values {
                write!(out, "\t{:02}", value.unwrap_or(0))?;
            }
        }
    }
    out.write_str("/>\n")
}

/// The row's values; the second and third are None in PSCI_VERSION's.
fn nanoseconds(clock: Clock, test: &TestReport<'_>, figures: &Figures) -> Option<[Option<u64>; 3]> {
    if !test.pmf {
        return None;
    }
    let ns = |ticks: Option<u64>| clock.ns(ticks?);
    let first = ns(figures.powerdown)?;
    if test.scenario == ScenarioId::PsciVersionParallel {
        return Some([Some(first), None, None]);
    }
    Some([
        Some(first),
        Some(ns(figures.wakeup)?),
        // Standby flushes nothing, and the line has a place for it.
        Some(ns(figures.cache_flush).unwrap_or(0)),
    ])
}
