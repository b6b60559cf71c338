//! Parts of several verbs: plans and exit codes.

use anyhow::{Context, Result, anyhow};
use device_tree::check_bootargs;
use run::plan::Plan;

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0  PASS, or done
  1  FAIL: a scenario broke its promise, a test failed, or a fuzzer crashed it;
     or something was skipped, and --deny-skipped is given
  2  bad input or use, or something could not be fetched, built, started or
     written
  3  INCOMPLETE: the run did not reach its end, or was interrupted";

/// Exit code when input or use is bad, or something is not to be had.
pub(super) const BAD: u8 = 2;
/// Exit code when a run, a log or a comparison is incomplete, or when the user interrupts.
pub(super) const INCOMPLETE: u8 = 3;

/// Exit code when a job, a test case or a verdict is not passed, or when something
/// is skipped that must not be.
pub(super) const FAILED: u8 = 1;

/// Returns the plan that the boot arguments `args` make: the payload would refuse bad
/// ones, but only after it has been built and started.
pub(super) fn plan(args: Option<&str>) -> Result<Plan> {
    let args = args.unwrap_or_default();
    check_bootargs(args).context("--args")?;
    Plan::parse(args).map_err(|error| anyhow!("--args: {error}"))
}

/// A share as parts of a million: `0.02`, or `2%`.
pub(super) fn parse_share(text: &str) -> Result<u32, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 10_000.0),
        None => (text, 1_000_000.0),
    };
    let number = number
        .parse::<f64>()
        .ok()
        .filter(|it| it.is_sign_positive());
    let ppm = number.map(|it| (it * scale).round());
    match ppm {
        Some(ppm) if (0.0..1_000_000.0).contains(&ppm) => Ok(ppm as u32),
        _ => Err("expected a share below 1, such as 0.02 or 2%".to_owned()),
    }
}
