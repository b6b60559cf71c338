//! `psci-report report`: byte-for-byte comparisons of every format, third-party parsers, and exit
//! codes.

mod exit_codes;
pub mod formats;
mod issue;
mod readers;
mod readme;
mod steps;

use report::export::{self, Report};
use report::log::read_bytes;
use report::synthetic_run::{self, edited_log};
use suite::model::Run;

/// Returns the report for a log.
pub fn read(log: &str) -> Report {
    let runs = read_bytes("a.log", log.as_bytes());
    runs.expect("there is a run").into()
}

/// Returns the report for the synthetic run after applying `edit`.
pub fn edited(edit: impl FnOnce(&mut Run)) -> Report {
    read(&edited_log(edit))
}

/// Returns a report, without samples, that covers a sweep and two placements of a helper.
fn short() -> Report {
    edited(synthetic_run::shorten)
}

/// Returns a report in this format, or the reason why it cannot be written.
fn try_written(report: &Report, format: &str) -> anyhow::Result<String> {
    let format = export::by_name(format).expect("a format");
    let mut out = Vec::new();
    format.write(report, &mut out)?;
    Ok(String::from_utf8(out).expect("UTF-8"))
}

pub fn written(report: &Report, format: &str) -> String {
    try_written(report, format).expect("written")
}
