//! A whole run: from what is wished to the verdict.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use anyhow::Result;

use super::prepare::prepare;
use super::run_result::RunResult;
use super::run_spec::RunSpec;

/// Sets up what is missing, builds what is stale, runs, and judges. The
/// UART's bytes go to `out` as they come; `interrupt` ends the run.
pub fn run(spec: &RunSpec, interrupt: &AtomicBool, out: &mut dyn Write) -> Result<RunResult> {
    prepare(spec)?.run(interrupt, out)
}
