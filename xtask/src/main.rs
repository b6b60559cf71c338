//! The program behind `cargo xtask`. All of its code is in this crate's library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(xtask::cli::main(std::env::args_os()))
}
