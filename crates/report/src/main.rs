//! `psci-report`: the reports of `cargo xtask`, without a checkout.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(report::cli::main())
}
