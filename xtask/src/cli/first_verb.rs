//! The verbs of the first minutes, which each build of the tool has.

use clap::Subcommand;

use super::qemu::QemuArguments;

/// A verb that each build of the tool has.
#[derive(Subcommand)]
pub enum FirstVerb {
    /// Run on QEMU, under real TF-A, and exit by the verdict.
    Qemu(Box<QemuArguments>),
    /// Set up what is missing, and run all tests.
    #[command(after_help = "Examples:
  cargo xtask test
  cargo xtask test -- fip        # tests with fip in their name
  cargo xtask test --trees       # the trees of Linux's boards, alone
  cargo xtask test --kvm         # as a guest under KVM, alone")]
    Test {
        /// Only the test that is not among them: the device trees of all of
        /// Linux's boards. It fetches Debian's kernel for arm64, 90 MB, once.
        #[arg(long, conflicts_with = "filter")]
        trees: bool,
        /// Only the tests as a guest under KVM, in an emulated Linux, which are
        /// not among them either. They take minutes, and fetch Debian's kernel
        /// and QEMU for arm64, 62 MB, once.
        #[arg(long, conflicts_with_all = ["filter", "trees"])]
        kvm: bool,
        /// Parts of tests' names, after `--`; options of test programs show all
        /// output.
        #[arg(last = true)]
        filter: Vec<String>,
    },
    /// Install what `cargo xtask test` needs, and fetch TF-A's source.
    ///
    /// The README lists what is installed. g++, cargo-fuzz and the Rust target
    /// for musl are not among it: `fuzz` and runs under KVM install them. Each
    /// command installs what it needs by itself, too. With
    /// PSCI_BENCH_NO_INSTALL=1 in the environment nothing is installed: the
    /// commands are printed, and the exit code is 2.
    #[command(after_help = "Examples:
  cargo xtask setup
  PSCI_BENCH_NO_INSTALL=1 cargo xtask setup     # only tell what is missing")]
    Setup,
}
