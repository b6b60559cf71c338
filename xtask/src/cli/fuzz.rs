//! `cargo xtask fuzz`.

use clap::Subcommand;

use crate::soak::boot_fuzz;

/// A command of `fuzz`.
#[derive(Debug, Subcommand)]
pub enum FuzzVerb {
    /// Boot device trees and parameter blocks with something wrong in them, in
    /// QEMU under TF-A.
    ///
    /// A run is good if it ends by itself and says a last line, and if a PASS
    /// has the figures of the unmutated run. Image and log of any other are
    /// kept in target/psci-bench/fuzz/boot. docs/device-trees.md says more.
    #[command(after_help = "\
Exit codes:
  0  every run is good
  1  at least one is a finding
  2  bad use, or something could not be fetched, built or started
  3  the unmutated run does not pass, or the user ended it

Examples:
  cargo xtask fuzz boot --trees 1000 --blocks 100
  cargo xtask fuzz boot --trees 20 --blocks 5 --seed 7")]
    Boot(boot_fuzz::Options),
}
