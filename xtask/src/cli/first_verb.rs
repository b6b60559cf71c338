//! The verbs for the first few minutes, which every build of the tool has.

use clap::Subcommand;

use super::qemu::QemuArguments;
use super::test::TestArguments;

/// A verb that every build of the tool has.
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
need. With PSCI_BENCH_NO_INSTALL=1 nothing is installed: the commands are
printed, and the exit code is 2.")]
    Setup,
}
