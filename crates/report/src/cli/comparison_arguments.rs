//! The options that control a comparison, and their values.

use anyhow::Result;
use clap::Args;
use itertools::Itertools as _;
use thiserror::Error;

use crate::analysis::compare::{self, AllowedDifference, Comparison, RowCpu};
use crate::log::LoggedRun;

/// What counts as a change.
#[derive(Args, Debug)]
pub struct ToleranceArgument {
    /// Largest change to ignore.
    #[arg(
        id = "tolerance",
        long = "tolerance",
        value_name = "SHARE",
        default_value = "2%",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = parse_share)]
    pub ppm: u32,
}

/// Which runs and rows are compared, and what counts as a change.
#[derive(Args, Debug)]
pub struct ComparisonArguments {
    #[command(flatten)]
    tolerance: ToleranceArgument,
    /// Compare across: methods, states, wakes, boards, clocks.
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = parse_condition)]
    across: Vec<AllowedDifference>,
    /// May be missing from NEW: scenarios, cpus.
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = parse_part)]
    allow_missing: Vec<AllowedDifference>,
    /// CPUs for rows with repeated labels, in order: MPIDRs or labels.
    #[arg(long, value_name = "CPU,…", value_delimiter = ',')]
    pub row_cpus: Vec<RowCpu>,
}

impl ComparisonArguments {
    /// Returns the options for the comparison.
    pub fn options(&self) -> compare::Options {
        let allowed_differences = self.across.iter().chain(&self.allow_missing);
        compare::Options {
            tolerance_ppm: self.tolerance.ppm,
            allowed_differences: allowed_differences.copied().collect(),
            ..compare::Options::default()
        }
    }

    /// Compares each of `runs` with `baseline`.
    ///
    /// # Errors
    /// Returns an error if a run cannot be compared with the baseline.
    pub fn compare(
        &self,
        runs: &mut [LoggedRun],
        baseline: &mut LoggedRun,
        options: &compare::Options,
    ) -> Result<Vec<Comparison>> {
        compare::name_rows(runs, baseline, &self.row_cpus)?;
        compare::compare(runs, baseline, options)
    }
}

/// An invalid value for an option.
#[derive(Debug, Error)]
#[error("expected one of {}", .0.iter().map(|difference| difference.word()).join(", "))]
struct UnknownWord(&'static [AllowedDifference]);

fn parse_condition(word: &str) -> Result<AllowedDifference, UnknownWord> {
    parse_one_of(&AllowedDifference::CONDITIONS, word)
}

fn parse_part(word: &str) -> Result<AllowedDifference, UnknownWord> {
    parse_one_of(&AllowedDifference::MAY_BE_MISSING, word)
}

fn parse_one_of(
    known: &'static [AllowedDifference],
    word: &str,
) -> Result<AllowedDifference, UnknownWord> {
    let mut values = known.iter().copied();
    values
        .find(|difference| difference.word() == word)
        .ok_or(UnknownWord(known))
}

/// A string that is not a valid fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a fraction below 1, such as 0.02 or 2%")]
struct NotAShare;

/// Parses a fraction, such as `0.02` or `2%`, into parts per million. Returns an error if `text` is
/// not a number that is at least 0 and less than 1.
fn parse_share(text: &str) -> Result<u32, NotAShare> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(digits) => (digits, 10_000.0),
        None => (text, 1_000_000.0),
    };
    let number = digits.parse::<f64>().map_err(|_| NotAShare)?;
    let ppm = (number * scale).round();
    if number.is_sign_positive() && (0.0..1_000_000.0).contains(&ppm) {
        Ok(ppm as u32)
    } else {
        Err(NotAShare)
    }
}
