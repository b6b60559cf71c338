//! The output of a run, on one UART for several kinds of reader: TFTF's lines, which TF-A's CI
//! looks for; tables and findings for people, ready to be pasted as reStructuredText;
//! [`crate::record`]s for programs; and the last line, [`ClosingLine`].
//!
//! TFTF's lines enclose only results that were measured in the same way as in TFTF. A scenario that
//! uses the warm method or is not in TFTF's suite has no such lines, because programs that read
//! them would mistake its results for TFTF's.
//!
//! All output except records is ASCII, in lines of at most 80 columns. Lines end in "\n", which the
//! payload's UART writer converts to CR LF.

use alloc::format;
use core::fmt::{self, Write};

use crate::findings::{Subject, Verbosity, findings_of, list_first_few};
use crate::model::{ClosingLine, End, Run, Scenario, Status, Verdict};
use crate::plan::{Method, ScenarioId, WARM_TITLE};
use crate::record::Writer;
use hardware::board::NoFrame;
use hardware::text::prose::paragraph;

use super::check_tables::write_check_tables;
use super::first_run::print_next;
use super::header::{cpu_clocks, frequencies, powers_kept_on};
use super::step_tables::write_step_tables;
use super::summary::ClosingSummary;
use super::sweeps::write_sweeps;
use super::tables::write_suite_tables;
use super::tftf_lines;
use crate::bench::{States, WakeSources};

/// Prints the name of the next scenario before it is measured, so that it appears in the log even
/// if the run ends there.
pub fn print_scenario_name(out: &mut dyn Write, id: ScenarioId, method: Method) -> fmt::Result {
    let name = id.name();
    match method {
        _ if !id.is_suite() => paragraph(out, "", 2, &name),
        Method::Tftf => writeln!(out, "> Executing '{name}'"),
        Method::Warm => paragraph(out, "", 2, &format_args!("{name}{WARM_TITLE}")),
    }
}

/// Prints the results of one scenario after [`print_scenario_name`]: tables and findings for each
/// helper placement.
pub fn print_scenario(out: &mut dyn Write, run: &Run, group: &[Scenario]) -> fmt::Result {
    match Scenario::status_of(group) {
        _ if group.iter().all(Scenario::has_tftf_lines) => {
            tftf_lines::write_scenario(out, run, group)?
        }
        Status::Passed => out.write_str("  Passed\n")?,
        status => tftf_lines::write_reason(out, run, status)?,
    }
    out.write_char('\n')?;
    for scenario in group {
        write_suite_tables(out, run, scenario)?;
        write_step_tables(out, run, scenario)?;
        write_sweeps(out, run, scenario)?;
        write_check_tables(out, run, scenario)?;
        let findings = findings_of(&Subject {
            run,
            scenario,
            verbosity: Verbosity::Short,
        });
        for finding in &findings {
            paragraph(out, "* ", 2, &finding.sentence)?;
        }
        if !findings.is_empty() {
            out.write_char('\n')?;
        }
    }
    Ok(())
}

/// Prints the board's idle states that are not used, and what is odd about the states in the plan.
pub(crate) fn print_state_notes(out: &mut dyn Write, run: &Run, states: &States) -> fmt::Result {
    for state in &run.left_out {
        paragraph(out, "Warning: ", 9, &state.sentence())?;
    }
    let odd = states.odd_choices();
    for text in &odd {
        paragraph(out, "Warning: ", 9, text)?;
    }
    if !run.left_out.is_empty() || !odd.is_empty() {
        out.write_char('\n')?;
    }
    Ok(())
}

/// Prints the results of the wake-up source trials, or nothing if no measured state stops a timer.
pub(crate) fn print_wake_sources(
    out: &mut dyn Write,
    run: &Run,
    wake_sources: &WakeSources,
) -> fmt::Result {
    for (power_state, cpu) in &wake_sources.undeclared {
        let text = format!(
            "CPU {}'s timer did not wake it from {power_state:#010x}, but an SGI did: the idle \
             state lacks local-timer-stop.",
            run.label(*cpu)
        );
        paragraph(out, "Warning: ", 9, &text)?;
    }
    let Some(woken) = wake_sources.woken else {
        return Ok(());
    };
    if wake_sources.proven.is_empty() {
        return Ok(());
    }
    let states = wake_sources
        .proven
        .iter()
        .map(|value| format!("{value:#010x}"));
    let helper = wake_sources.woke_lead.map(|helper| run.label(helper));
    let lead = match (wake_sources.frame, helper) {
        (Ok(frame), _) => format!("; the {frame}, woke the lead."),
        (Err(NoFrame::DidNotWake), Some(helper)) => format!(
            "; the timer frame failed its trial: its interrupt did not wake the lead, but an SGI \
             from CPU {helper} did. A CPU that stays awake wakes the others."
        ),
        (Err(why), Some(helper)) => {
            format!("; one from CPU {helper} woke the lead, because {why}.")
        }
        (Err(_), None) => ".".into(),
    };
    let text = format!(
        "an SGI woke CPU {} from {}{lead}",
        run.label(woken),
        list_first_few(states)
    );
    paragraph(out, "Wake-up trials: ", 2, &text)?;
    out.write_char('\n')
}

/// Prints the tags and names of all scenarios.
pub fn print_scenario_list(out: &mut dyn Write) -> fmt::Result {
    out.write_str(
        "\nScenarios for only=, separated by commas. Groups: suite (default), micro, all:\n",
    )?;
    for id in ScenarioId::ALL {
        writeln!(out, "  {:21} {}", id.short_tag(), id.name())?;
    }
    out.write_char('\n')
}

/// Prints everything that follows the last scenario, including the last line, and returns the
/// verdict.
pub fn print_closing(
    out: &mut dyn Write,
    run: &Run,
    summary: &ClosingSummary,
    records: &mut Writer,
) -> Result<Verdict, fmt::Error> {
    let totals = summary.totals;
    let verdict = Verdict::from_totals(&totals);
    if run.has_tftf_lines() {
        tftf_lines::write_summary(out, summary.tests_of_tftf(run))?;
    }
    frequencies(out, run)?;
    cpu_clocks(out, run)?;
    powers_kept_on(out, run)?;
    out.write_char('\n')?;
    let end = End {
        records: 0,
        verdict,
        totals,
    };
    records.write_end(out, run, end)?;
    if run.has_tftf_lines() {
        out.write_str("\nNOTICE:  Exiting tests.\n")?;
    }
    out.write_char('\n')?;
    summary.write(out, run)?;
    if run.plan.is_some_and(|plan| plan.scenarios.is_first()) {
        print_next(out, &totals)?;
    }
    ClosingLine::Ended(&totals).print(out)?;
    Ok(verdict)
}
