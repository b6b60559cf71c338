//! Boot arguments on the command line of a host program.

use anyhow::{Context, Result, anyhow};
use device_tree::check_bootargs;
use suite::plan::{Key, Plan, PlanProblem};

/// Returns the boot arguments in `args` with `value` for `key`, unless they have a value for it.
pub fn with_default(args: Option<&str>, key: Key, value: &str) -> String {
    let args = args.unwrap_or_default();
    let start = format!("{}=", key.word());
    if args.split_whitespace().any(|word| word.starts_with(&start)) {
        args.to_owned()
    } else {
        format!("{args} {start}{value}").trim_start().to_owned()
    }
}

/// Returns the plan for the boot arguments in `args`. The payload would also reject invalid boot
/// arguments, but only after it has been built and started.
///
/// # Errors
/// Returns an error that names the word that is invalid.
pub fn parse_plan(args: Option<&str>) -> Result<Plan> {
    let args = args.unwrap_or("");
    check_bootargs(args).context("--args")?;
    Plan::parse(args).map_err(|error| {
        let hint = match error.problem {
            PlanProblem::Value(Key::Only) => " (`cargo xtask scenarios` lists them)",
            _ => "",
        };
        anyhow!("--args: {error}{hint}")
    })
}
