//! `psci-tf-a-pages`: the verbs `publish` and `audit` of `cargo xtask`, for use without a checkout.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tf_a_pages::cli::main())
}
