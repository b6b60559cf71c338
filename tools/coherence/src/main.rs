//! `psci-coherence`: the `verify` verb of `cargo xtask`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(coherence::main())
}
