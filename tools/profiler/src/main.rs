//! The program behind `cargo xtask profile`, `ledger` and `bisect`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(profiler::cli::main())
}
