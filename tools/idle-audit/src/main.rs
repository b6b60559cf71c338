//! `psci-idle-audit`: the verb `audit-idle` of `cargo xtask`, for use without a checkout.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(idle_audit::cli::main())
}
