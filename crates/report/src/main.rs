//! `psci-report`: the report commands of `cargo xtask`, for use without a checkout.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(report::cli::main())
}
