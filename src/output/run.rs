//! What a run prints: four layers on one UART, for four kinds of reader.
//!
//! 1. TFTF's frame: the lines that TF-A's continuous integration looks for.
//! 2. Tables and findings for people, ready to be pasted as reStructuredText.
//! 3. [`record`]: everything again for programs, in lines that carry their
//!    own checksum, and sent twice.
//! 4. The last line: [`crate::model::verdict`].
//!
//! ```text
//! header()    NOTICE:  Booting trusted firmware test framework
//!             what the run is: board, firmware, clock, plan
//! test()      > Executing '...', RT_INSTR lines, TEST COMPLETE      once a
//!             tables, findings                                      scenario
//! closing()   counts, records, NOTICE:  Exiting tests., records again
//!             what was skipped, and why
//!             psci-bench: PASS (...)
//! ```
//!
//! TFTF's lines stand only around what was measured as TFTF measures it: a
//! scenario of the warm method, or from outside TFTF's suite, has tables and
//! records, but no frame, since the programs that read the frame would take its
//! figures for TFTF's.
//!
//! Everything is ASCII in lines of at most 120 columns that end in "\n"; the
//! machine half's writer makes CR LF of it. Nothing here measures, and
//! nothing is kept: all that is printed follows from the arguments.

use core::fmt::{self, Write};

use crate::board::NoFrame;
use crate::model::report::status as status_of;
use crate::model::run::{Run, is_framed};
use crate::model::{ClosingLine, TestReport, Totals};
use crate::plan::{Method, ScenarioId};
use crate::scenario::Wakers;

pub(crate) use super::header::header;
use crate::record::records::records;
use crate::spec::prose::COLUMNS;

/// Prints which scenario comes next: before it is measured, so that a log
/// that ends there tells where.
///
/// # Errors
/// Those of `out`.
pub fn begin_test(out: &mut dyn Write, scenario: ScenarioId, method: Method) -> fmt::Result {
    if is_framed(scenario, method) {
        super::frame::begin_test(out, scenario)
    } else {
        super::status::begin_test(out, scenario)
    }
}

/// Prints one scenario's results after [`begin_test`]: for each placement of the
/// helper tables and findings.
///
/// # Errors
/// Those of `out`.
pub fn test(out: &mut dyn Write, run: &Run<'_>, group: &[TestReport<'_>]) -> fmt::Result {
    if group
        .iter()
        .all(|test| is_framed(test.scenario, test.method))
    {
        super::frame::test(out, run, group)?;
    } else {
        super::status::result(out, run, status_of(group))?;
    }
    out.write_char('\n')?;
    for test in group {
        super::tables::write(out, run, test)?;
        super::points::write(out, run, test)?;
        super::sweeps::write(out, run, test)?;
        crate::findings::findings::write(out, run, test)?;
    }
    Ok(())
}

/// Prints what trials showed of the wake-up sources; nothing where no state that
/// is measured stops a timer.
///
/// # Errors
/// Those of `out`.
pub fn wake_trials(out: &mut dyn Write, run: &Run<'_>, wakers: &Wakers) -> fmt::Result {
    let Some(woken) = wakers.woken.filter(|_| !wakers.proven.is_empty()) else {
        return Ok(());
    };
    let woken = run.label(woken);
    let helper = wakers.woke_lead.map(|helper| run.label(helper));
    crate::spec::prose::paragraph(out, "Wake-up trials: ", 2, &mut |prose| {
        write!(prose, "an SGI woke CPU {woken} from ")?;
        let states = wakers
            .proven
            .iter()
            .map(|state| super::status::State(*state));
        crate::spec::prose::listed(prose, &mut states.clone())?;
        match (wakers.frame, helper) {
            (Ok(frame), _) => write!(prose, "; the {frame}, woke the lead"),
            (Err(NoFrame::DidNotWake), Some(helper)) => write!(
                prose,
                "; the timer frame failed its trial: its interrupt did not wake the lead, an SGI \
                 from CPU {helper} did. A CPU that stays awake wakes the others"
            ),
            (Err(why), Some(helper)) => {
                write!(prose, "; one from CPU {helper} woke the lead, as {why}")
            }
            (Err(_), None) => Ok(()),
        }?;
        prose.write_char('.')
    })?;
    out.write_char('\n')
}

/// Lists all scenarios, by tag and name.
///
/// # Errors
/// Those of `out`.
pub fn list(out: &mut dyn Write) -> fmt::Result {
    out.write_str(
        "\nScenarios for only=, by comma; suite, which is the default, micro and all are groups:\n",
    )?;
    for id in ScenarioId::ALL {
        writeln!(out, "  {:21} {}", id.short_tag(), id.name())?;
    }
    out.write_char('\n')
}

/// Prints what follows the last scenario, down to the last line.
///
/// # Errors
/// Those of `out`.
pub fn closing(
    out: &mut dyn Write,
    run: &Run<'_>,
    tests: &[TestReport<'_>],
    totals: &Totals,
) -> fmt::Result {
    if run.has_frame() {
        super::frame::summary(out, run, tests)?;
    }
    super::header::frequencies(out, run)?;
    super::header::cpu_clocks(out, run)?;
    out.write_char('\n')?;
    records(out, run, tests)?;
    if run.has_frame() {
        // A reader that stops at this line has one copy of the records.
        out.write_str("\nNOTICE:  Exiting tests.\n")?;
    }
    out.write_char('\n')?;
    records(out, run, tests)?;
    out.write_char('\n')?;
    super::status::skips(out, run, tests)?;
    let line = ClosingLine::Ended(totals);
    if crate::spec::prose::width(&line) > COLUMNS {
        // A line that is cut is no verdict.
        return crate::spec::prose::one_line(out, &format_args!("{line:#}"));
    }
    crate::spec::prose::one_line(out, &line)
}

/// Prints the end of a run that was cut short: the reason in full, and then
/// as much of it as the last line holds.
///
/// # Errors
/// Those of `out`.
pub fn cut_short(out: &mut dyn Write, line: &ClosingLine<'_>) -> fmt::Result {
    if crate::spec::prose::width(line) > COLUMNS {
        crate::spec::prose::paragraph(out, "ERROR:   ", 9, &mut |prose| match line {
            ClosingLine::Ended(_) => Ok(()),
            ClosingLine::Incomplete(reason) | ClosingLine::BadInput(reason) => {
                write!(prose, "{reason}")
            }
        })?;
    }
    crate::spec::prose::one_line(out, line)
}
