//! The `overhead` verb, which prints the cost of firmware instrumentation.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use host::exit_code::INCOMPLETE;
use host::stdout::Out;
use itertools::Itertools as _;

use super::chosen_runs::read_all;
use super::report_verdict::all_complete;
use crate::analysis::overhead::{CostUnit, overhead};
use crate::log::LoggedRun;

/// Arguments of `overhead`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  {program} overhead pmf.log plain.log
  {program} overhead pmf.log plain.log > overhead.txt

Details: docs/overhead.md")]
pub struct OverheadArguments {
    /// Log of a run on firmware with PMF.
    #[arg(value_name = "PMF")]
    pmf: PathBuf,
    /// Log of a run on firmware without PMF.
    #[arg(value_name = "PLAIN")]
    plain: PathBuf,
}

impl OverheadArguments {
    /// Prints the costs and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        let [pmf, plain] = [read_only_run(&self.pmf)?, read_only_run(&self.plain)?];
        print(&pmf, &plain, CostUnit::Time)?;
        let is_complete = all_complete([&pmf, &plain]);
        Ok(if is_complete { 0 } else { INCOMPLETE })
    }
}

/// Returns the only run in `log`.
pub(super) fn read_only_run(log: &Path) -> Result<LoggedRun> {
    let runs = read_all(&[log.to_owned()])?;
    only_run(runs, &log.display().to_string())
}

/// Returns the only run in `runs`, which were read from `input`.
///
/// # Errors
/// Returns an error unless there is exactly one run.
pub fn only_run(runs: Vec<LoggedRun>, input: &str) -> Result<LoggedRun> {
    let count = runs.len();
    let run = runs.into_iter().exactly_one().ok();
    run.with_context(|| format!("{input}: contains {count} runs; use a log with exactly one"))
}

/// Prints the cost of PMF.
///
/// # Errors
/// Returns an error if the runs cannot be compared, or if stdout cannot be written to.
pub fn print(pmf: &LoggedRun, plain: &LoggedRun, unit: CostUnit) -> Result<()> {
    let overhead = overhead(pmf, plain, unit)?;
    let mut out = Out::default();
    overhead.write(&mut out)?;
    Ok(out.flush()?)
}
