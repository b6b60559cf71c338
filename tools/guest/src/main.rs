//! The program behind `cargo xtask guest`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(guest::cli::main())
}
