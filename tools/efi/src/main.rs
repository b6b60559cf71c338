//! The program behind `cargo xtask efi` and `cargo xtask stick`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(efi::cli::main())
}
