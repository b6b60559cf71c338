//! The program behind `cargo xtask`; everything it does is in xtask's own library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(xtask::cli::main(std::env::args_os()))
}
