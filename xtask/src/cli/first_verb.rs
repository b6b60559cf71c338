//! The verbs that a new user needs first. Every build of the tool includes them.

use clap::Subcommand;

use super::qemu::QemuArguments;
use super::test::TestArguments;

/// A verb that every build of the tool includes.
#[derive(Subcommand)]
pub enum FirstVerb {
    Qemu(Box<QemuArguments>),
    Test(TestArguments),
    /// Install what the tests need, and fetch TF-A's source.
    #[command(after_help = "\
Examples:
  cargo xtask setup
  PSCI_BENCH_NO_INSTALL=1 cargo xtask setup     # only print what is missing

docs/setup.md lists what is installed. Other verbs also install what they
need. With PSCI_BENCH_NO_INSTALL=1 they only print the commands, and the exit
code is 2.")]
    Setup,
}
