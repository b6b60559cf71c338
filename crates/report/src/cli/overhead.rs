//! `report LOG --overhead LOG`: the costs of a firmware's instrumentation.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::exit_code::INCOMPLETE;
use host::stdout::Out;
use itertools::Itertools as _;

use super::chosen_runs::read_all;
use super::report_verdict::all_complete;
use crate::analysis::overhead::{CostUnit, overhead};
use crate::log::LoggedRun;

/// Compares the log of an instrumented build with that of the plain one.
///
/// # Errors
/// A log cannot be read, does not have one run, or is of another board.
pub fn of_logs(logs: &[PathBuf], without: &Path) -> Result<u8> {
    let [log] = logs else {
        bail!("--overhead compares two logs: that of the instrumented build, and the plain one's");
    };
    let with = read_all(std::slice::from_ref(log))?;
    let without = read_all(&[without.to_owned()])?;
    let [with, without] = [only(with)?, only(without)?];
    print(&with, &without, CostUnit::Time)?;
    let whole = all_complete([&with, &without]);
    Ok(if whole { 0 } else { INCOMPLETE })
}

/// Returns the only run of `runs`.
///
/// # Errors
/// There is none, or more than one.
pub fn only(runs: Vec<LoggedRun>) -> Result<LoggedRun> {
    let count = runs.len();
    let run = runs.into_iter().exactly_one().ok();
    run.with_context(|| format!("--overhead takes logs of one run each, and there are {count}"))
}

/// Prints the comparison.
///
/// # Errors
/// The runs cannot be compared, or stdout cannot be written to.
pub fn print(with: &LoggedRun, without: &LoggedRun, unit: CostUnit) -> Result<()> {
    let overhead = overhead(with, without, unit)?;
    let mut out = Out::default();
    overhead.write(&mut out)?;
    Ok(out.flush()?)
}
