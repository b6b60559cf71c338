//! `psci-labs`: the `lab` verb of `cargo xtask`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(labs::main())
}
