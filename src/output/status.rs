//! Results of scenarios in words.

use alloc::format;
use core::fmt::{self, Write};

use crate::model::{Run, Status};
use crate::plan::ScenarioId;
use crate::spec::prose::paragraph;

/// A `power_state` as it is printed.
pub(crate) struct State(pub u32);

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// Writes which scenario follows, outside TFTF's frame.
pub(crate) fn begin_scenario(out: &mut dyn Write, id: ScenarioId) -> fmt::Result {
    let kept = if id.is_suite() {
        ", CPUs kept on between samples"
    } else {
        ""
    };
    paragraph(out, "", 2, &format_args!("{}{kept}", id.name()))
}

/// Writes the result of a scenario outside TFTF's frame.
pub(crate) fn result(out: &mut dyn Write, run: &Run, status: Status) -> fmt::Result {
    match status {
        Status::Passed => out.write_str("  Passed\n"),
        other => reason(out, run, other),
    }
}

/// Writes the reason, unless the scenario passed.
pub(crate) fn reason(out: &mut dyn Write, run: &Run, status: Status) -> fmt::Result {
    let text = match status {
        Status::Skipped(skip) => format!("Skipped: {skip}"),
        Status::Failed(failure) => format!("Failed: {}", failure.sentence(run)),
        Status::Passed | Status::Crashed | Status::Unknown => return Ok(()),
    };
    paragraph(out, "  ", 4, &text)
}
