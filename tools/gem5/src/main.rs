//! `psci-gem5`: the `gem5` verb of `cargo xtask`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gem5::main())
}
