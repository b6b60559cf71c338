//! `cargo xtask fuzz`.

use anyhow::Result;
use clap::Args;

use crate::soak::fuzz::{self, SECONDS_MAX, TARGETS};

/// Fuzz the code that reads external input.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  cargo xtask fuzz
  cargo xtask fuzz fip device_tree --seconds 600 --jobs 2

Targets: {}
Exit codes: 1 a fuzzer found something
Details: fuzz/README.md", TARGETS.join(", ")))]
pub struct FuzzArguments {
    /// Targets to fuzz [default: all].
    #[arg(value_name = "TARGET", value_parser = TARGETS, hide_possible_values = true)]
    pub targets: Vec<String>,
    /// Time for each target.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=SECONDS_MAX))]
    pub seconds: u32,
    /// Targets to run at a time [default: the host's CPU count].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

pub(super) fn run(arguments: &FuzzArguments) -> Result<u8> {
    let FuzzArguments {
        targets,
        seconds,
        jobs,
    } = arguments;
    Ok(u8::from(!fuzz::run(targets, *seconds, *jobs)?))
}
