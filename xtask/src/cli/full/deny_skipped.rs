//! `cargo xtask qemu --deny-skipped`.

use anyhow::Result;
use host::exit_code::FAILED;
use host::progress::say;
use report::log::{LoggedRun, read_bytes};

use crate::cli::qemu::{self, QemuArguments};

/// Runs QEMU. A run that passes but skips something is treated as a failure.
pub(crate) fn run(arguments: &QemuArguments) -> Result<u8> {
    let result = qemu::run(arguments)?;
    let code = result.exit_code();
    if code != 0 {
        return Ok(code);
    }
    let runs = read_bytes("the UART", &result.log)?;
    let Some(denied) = runs.last().and_then(LoggedRun::denied) else {
        return Ok(code);
    };
    say(&denied);
    Ok(FAILED)
}
