//! The lines that TFTF tooling looks for, printed exactly as in TFTF.
//!
//! Scripts collect `<RT_INSTR:TAG\tCLUSTER\tCORE\t.../>` in unsigned nanoseconds, and either
//! average one CPU's rows or pair rows by index. There is therefore one row per CPU and scenario,
//! in MPIDR order. A scenario without PMF timestamps, or without a frequency to convert them, has
//! no such rows. TFTF's lines report such a scenario as Skipped, as TFTF would, but psci-bench's
//! own tables below them may still contain results.

use alloc::format;
use core::fmt::{self, Write};

use crate::measure::Metric;
use crate::model::{Cell, Run, Scenario, Status};
use hardware::board::CpuIndex;
use hardware::text::prose::paragraph;

/// Writes the lines at the start of a run.
pub(crate) fn write_opening(out: &mut dyn Write, exception_level: u8) -> fmt::Result {
    out.write_str("NOTICE:  Booting trusted firmware test framework\n")?;
    let level = u32::from(exception_level);
    writeln!(out, "NOTICE:  Running at NS-EL{level}")
}

/// Writes a scenario's rows and result: one row for each CPU, across all helper placements.
pub(crate) fn write_scenario(out: &mut dyn Write, run: &Run, group: &[Scenario]) -> fmt::Result {
    let cluster = |cpu: CpuIndex| run.cpu(cpu).cluster;
    for cpu in run.cpu_indices() {
        if let Some((scenario, cell)) = Scenario::cell_of(group.iter(), cpu, &cluster) {
            write_rt_instr(out, run, scenario, cell)?;
        }
    }
    let status = Scenario::status_of(group);
    let has_rows = run.clock().is_known() && group.iter().all(Scenario::has_pmf);
    let word = if status.has_failed() {
        "Failed"
    } else if status == Status::Passed && has_rows {
        "Passed"
    } else {
        "Skipped"
    };
    writeln!(out, "  TEST COMPLETE {word:>54}")?;
    if status == Status::Passed && !has_rows {
        no_rows(out, run)
    } else {
        write_reason(out, run, status)
    }
}

/// Writes the reason why a scenario was skipped or failed, inside or outside TFTF's lines.
pub(crate) fn write_reason(out: &mut dyn Write, run: &Run, status: Status) -> fmt::Result {
    let text = match status {
        Status::Skipped(skip) => format!("Skipped: {skip}"),
        Status::Failed(failure) => format!("Failed: {}", failure.sentence(&run.cpus, run.clock())),
        Status::Passed | Status::Crashed | Status::Unknown => return Ok(()),
    };
    paragraph(out, "  ", 4, &text)
}

/// Writes the number of tests that were skipped, passed and failed.
pub(crate) fn write_summary(
    out: &mut dyn Write,
    [skipped, passed, failed]: [usize; 3],
) -> fmt::Result {
    let total = skipped + passed + failed;
    let suite = if failed == 0 { "Passed" } else { "Failed" };
    write!(
        out,
        "******************************* Summary *******************************\n\
         > Test suite 'Runtime Instrumentation Validation'\n\
         {suite:>70}\n\
         =================================\n\
         Tests Skipped : {skipped}\n\
         Tests Passed  : {passed}\n\
         Tests Failed  : {failed}\n\
         Tests Crashed : 0\n\
         Total tests   : {total}\n\
         =================================\n"
    )
}

/// Writes the reason why a measured scenario has no rows among TFTF's lines.
fn no_rows(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let hz = run.clock().hz;
    let text = match run.facts.map(|facts| facts.pmf) {
        Some(Err(error)) => {
            format!("Skipped: no PMF timestamps: {error}; caller-side times are below")
        }
        _ => format!(
            "Skipped: no times in nanoseconds: {hz} Hz is implausible; the tables show ticks"
        ),
    };
    paragraph(out, "  ", 4, &text)
}

/// An RT_INSTR line's values, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtInstrFigures {
    /// For PSCI_VERSION.
    Latency(u64),
    /// For a suspend or CPU_OFF: powerdown, wakeup and cache flush.
    PowerDown([u64; 3]),
}

impl RtInstrFigures {
    /// Returns the values for a cell's line, or None if the cell has no line.
    pub fn from_cell(run: &Run, scenario: &Scenario, cell: &Cell) -> Option<Self> {
        if cell.skipped.is_some() || !scenario.has_pmf() {
            return None;
        }
        let ns = |metric| run.clock().ns(cell.figure(metric)?);
        if scenario.id.columns() == [Metric::Latency] {
            return ns(Metric::Latency).map(Self::Latency);
        }
        let (powerdown, wakeup) = (ns(Metric::Powerdown)?, ns(Metric::Wakeup)?);
        // The line always has a field for the flush. Standby has no flush, so the field is 0.
        let flush = ns(Metric::CacheFlush).unwrap_or(0);
        Some(Self::PowerDown([powerdown, wakeup, flush]))
    }
}

impl fmt::Display for RtInstrFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency(latency) => write!(f, "{latency}"),
            Self::PowerDown([powerdown, wakeup, flush]) => {
                write!(f, "{powerdown:02}\t{wakeup:02}\t{flush:02}")
            }
        }
    }
}

/// Writes a row's values in nanoseconds, or nothing if the row has no values.
fn write_rt_instr(out: &mut dyn Write, run: &Run, scenario: &Scenario, cell: &Cell) -> fmt::Result {
    let cpu = run.cpu(cell.cpu);
    let (tag, cluster) = (scenario.id.tag(), u32::from(cpu.cluster));
    let core = run.core_number(&cpu);
    match RtInstrFigures::from_cell(run, scenario, cell) {
        Some(figures) => writeln!(out, "<RT_INSTR:{tag}\t{cluster}\t{core}\t{figures}/>"),
        None => Ok(()),
    }
}
