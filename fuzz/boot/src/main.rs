//! Boots faulty device trees and parameter blocks in QEMU under TF-A.
//!
//! ```sh
//! cargo run -p boot-fuzz -- --trees 1000 --blocks 100
//! ```

mod classes;
mod judge;
mod mutations;
mod run;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Parser;
use host::stdout::Out;
use host::{exit_code, interrupt};

use crate::run::FuzzOptions;

/// Boots faulty device trees and parameter blocks in QEMU under TF-A.
///
/// A run is good if it ends on its own with a last line and, for a PASS, if its figures match the
/// unmutated run's. The image and log of any other run are kept in target/psci-bench/fuzz/boot. See
/// docs/device-trees.md.
#[derive(Debug, Parser)]
#[command(
    name = "boot-fuzz",
    after_help = "\
Exit codes:
  0  every run is good
  1  at least one is a finding
  2  invalid usage, or a dependency could not be fetched, built or started
  3  the unmutated run did not pass, or the user interrupted the command

Examples:
  cargo run -p boot-fuzz -- --trees 1000 --blocks 100
  cargo run -p boot-fuzz -- --trees 20 --blocks 5 --seed 7"
)]
struct BootFuzzArguments {
    #[command(flatten)]
    options: FuzzOptions,
}

fn main() -> ExitCode {
    let options = BootFuzzArguments::parse().options;
    let watched = interrupt::watch();
    let result = watched.and_then(|flag| run::run(&options, flag, &mut Out::default()));
    ExitCode::from(exit_code::of(result))
}
