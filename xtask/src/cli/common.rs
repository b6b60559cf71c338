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

/// Returns the plan that the boot arguments `args` make: the payload would refuse bad
/// ones, but only after it has been built and started.
pub(super) fn plan(args: Option<&str>) -> Result<Plan> {
    let args = args.unwrap_or("");
    check_bootargs(args).context("--args")?;
    Plan::parse(args).map_err(|error| anyhow!("--args: {error}"))
}
