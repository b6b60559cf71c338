//! What can be asked for, and the help for it.

mod fip;
mod fuzz_verb;
mod lab;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand};

use crate::board::firmware_kind::Firmware;
use crate::board::{Gic, GivenStates};
use crate::build::firmware::{Variant, fault};
use crate::qemu::timeout::TIMEOUT_MAX;
use crate::report::analysis::compare::{Across, RowIs};
use crate::report::export::{self, Exporter};
use crate::soak::{fuzz, parse_time};

pub use self::fip::{BuildArguments, Chosen, FipVerb, Images, Layout};
pub use self::fuzz_verb::FuzzVerb;
pub use self::lab::{LabArguments, NamedFile};

const EXIT_CODES: &str = "\
Exit codes:
  0  PASS, or done
  1  FAIL: a scenario broke its promise, a test failed, or a fuzzer crashed it;
     or something was skipped, and --deny-skipped is given
  2  bad input or use, or something could not be fetched, built or started
  3  INCOMPLETE: the run did not reach its end";

/// Builds, packs, runs and tests psci-bench.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Install whatever is missing, and fetch TF-A's source.
    ///
    /// Debian packages come by apt-get (through sudo where not root), the
    /// Rust target by rustup. Every other command does for itself the part
    /// of this that it needs. With PSCI_BENCH_NO_INSTALL=1 in the
    /// environment nothing is installed: the commands are printed, and the
    /// exit code is 2.
    #[command(after_help = "Examples:
  cargo xtask setup
  PSCI_BENCH_NO_INSTALL=1 cargo xtask setup     # only tell what is missing")]
    Setup,
    /// List the boards that are described, and what can be measured on them.
    ///
    /// With a name, tell all of one board: CPUs, power states, where its file
    /// goes. A board is described by platforms/NAME/board.toml; docs/boards.md
    /// says how to write one.
    #[command(after_help = "Examples:
  cargo xtask boards
  cargo xtask boards juno")]
    Boards {
        /// A folder of platforms/.
        name: Option<String>,
    },
    /// Build the payload and append a device tree: BL33 for a board.
    Image(ImageArguments),
    /// Make, inspect and change Firmware Image Packages.
    Fip {
        /// What to do.
        #[command(subcommand)]
        verb: FipVerb,
    },
    /// Run on QEMU, under real TF-A, and exit by the verdict.
    Qemu(QemuArguments),
    /// Repeat runs on QEMU, keep the logs of those that do not pass, and sum
    /// up.
    ///
    /// Firmware and payload are built once. Ctrl-C ends the run in hand,
    /// which is not counted then, and the sums are printed.
    Soak(SoakArguments),
    /// Turn UART logs into a report.
    ///
    /// Reads logs of psci-bench, and of TFTF's runtime instrumentation, as
    /// terminals and LAVA keep them: with time stamps, colours and any line
    /// ends. A log may hold several runs. Figures come from records, by their
    /// checksum, of either copy; what only a line without a checksum says is
    /// marked.
    Report(ReportArguments),
    /// Write jobs for lab engines, LAVA or labgrid: each board with each
    /// firmware is a cell, a folder with all that its engine takes.
    ///
    /// docs/labs.md says how they are run, here or in a lab. What an engine
    /// gives goes into the cell's folder results, where `cargo xtask report
    /// --matrix` reads it.
    Lab(LabArguments),
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
        /// Passed to the test programs, behind `--`.
        #[arg(last = true)]
        filter: Vec<String>,
    },
    /// Fuzz all that reads outside input, and tell what is found.
    ///
    /// Starts from the seeds in fuzz/seeds and from what former runs kept in
    /// target/psci-bench/fuzz, where each finding is put, too.
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Examples:
  cargo xtask fuzz
  cargo xtask fuzz fip device_tree --seconds 600 --jobs 2
  cargo xtask fuzz boot --trees 1000 --blocks 100"
    )]
    Fuzz {
        /// What else to fuzz.
        #[command(subcommand)]
        verb: Option<FuzzVerb>,
        /// Which targets [default: all].
        #[arg(value_name = "TARGET", value_parser = fuzz::TARGETS)]
        targets: Vec<String>,
        /// How long to run each.
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=fuzz::SECONDS_MAX))]
        seconds: u32,
        /// How many to run at a time [default: as many as the host has CPUs].
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        jobs: Option<u16>,
    },
}

/// Arguments of `image`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cargo xtask image --board juno -o bl33.bin     # see `cargo xtask boards`
  cargo xtask image --board rpi4 -o kernel8.img
  cargo xtask image --board juno --state-format extended --core 0x40000002 \\
      --deepest 0x40000022 -o bl33.bin
  cargo xtask image --dtb my-board.dtb --args 'iterations=100' -o bl33.bin
  cargo xtask image --base payload.bin --dtb my-board.dtb -o bl33.bin
  cargo xtask image --bare -o payload.bin")]
pub struct ImageArguments {
    /// The board: a folder of platforms/.
    #[arg(long, default_value = "qemu", conflicts_with = "dtb")]
    pub board: String,
    /// Use this released payload instead of building one. A device tree that
    /// it carries is replaced.
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    /// Append no device tree: what a release ships, for all boards.
    #[arg(long, conflicts_with_all = ["board", "dtb", "args", "smp", "gic", "state_format", "core"])]
    pub bare: bool,
    /// What the device tree says.
    #[command(flatten)]
    pub tree: TreeArguments,
    /// The file to write, or a directory to write the board's file to
    /// [default: psci-bench-BOARD.bin in target/psci-bench]. For a
    /// board that takes an image tree, OUT.dtb and OUT.its are written, too.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// What the device tree of an image says.
#[derive(Debug, Args)]
pub struct TreeArguments {
    /// Append this device tree instead of one made of the board file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["smp", "gic"])]
    pub dtb: Option<PathBuf>,
    /// Boot arguments, such as 'iterations=100 method=warm'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
    /// How many CPUs [default: as the board file says].
    #[arg(long, value_name = "N")]
    pub smp: Option<u32>,
    /// Which GIC, 2 or 3 [default: as the board file says].
    #[arg(long, value_name = "2|3")]
    pub gic: Option<Gic>,
    /// Its idle states.
    #[command(flatten)]
    pub states: GivenStates,
}

/// Arguments of `qemu`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
{EXIT_CODES}

Examples:
  cargo xtask qemu
  cargo xtask qemu --smp 32 --icount --log run.log
  cargo xtask qemu --overhead --icount
  cargo xtask qemu --gic 2 --el 1 --args 'iterations=5 only=cpu_off_serial'
  cargo xtask qemu --variant coherency=sw,pmf=sip --tf-a ../trusted-firmware-a
  cargo xtask qemu --fault cpu-on-denied,cpu=0x3,skip=2
  cargo xtask qemu --firmware builtin --smp 64
  cargo xtask qemu --dtb my-board.dtb --deny-skipped
  cargo xtask qemu --firmware kvm                # as a guest"))]
pub struct QemuArguments {
    /// What to run.
    #[command(flatten)]
    pub run: RunArguments,
    /// Also write the UART's bytes to this file; with --overhead, those of the
    /// two runs to run.pmf.log and run.plain.log of --log run.log.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Run under the firmware with PMF and without, and print what its
    /// instrumentation costs: in instructions with --icount, else in time.
    /// The exit code is that of the worse run.
    #[arg(long, conflicts_with = "fault")]
    pub overhead: bool,
    /// Exit with 1 where the run passes, and has skipped a scenario or a CPU's
    /// row of one. What was skipped is named.
    #[arg(long, conflicts_with = "overhead")]
    pub deny_skipped: bool,
}

/// Arguments of `soak`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  all runs PASS
  1  at least one FAIL
  2  bad input or use, or something could not be fetched, built or started
  3  at least one INCOMPLETE and no FAIL, or no run at all

Examples:
  cargo xtask soak
  cargo xtask soak --time 8h --load 2 --keep night
  cargo xtask soak --suspends 100000 --smp 32 --args 'iterations=100'")]
pub struct SoakArguments {
    /// Begin no run after this time, such as 90s, 10m or 2h [default: 10m,
    /// unless there is --runs or --suspends].
    #[arg(long, value_name = "T", value_parser = parse_time)]
    pub time: Option<Duration>,
    /// Stop after so many runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Stop when so many CPU_SUSPENDs were attempted in all runs together,
    /// warm-ups aside.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub suspends: Option<u64>,
    /// Keep so many of the host's CPUs busy meanwhile.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub load: u16,
    /// Keep the logs of runs that do not PASS and a summary in this new or
    /// empty directory [default: the next number in target/psci-bench/soak].
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// What to run.
    #[command(flatten)]
    pub run: RunArguments,
}

/// Arguments of `report`.
#[derive(Args)]
#[command(after_help = format!("\
Formats:
{}
Exit codes:
  0  done, and no regression
  1  done, and a figure is a regression against the baseline; with --matrix, a
     job, a test case or a verdict is not passed; with --deny-skipped, a
     scenario or a row is skipped
  2  bad input or use: no such file, no run in a log, runs that do not merge
     or can not be compared
  3  done, but a run, the baseline, the comparison or a job of a matrix is
     incomplete, or something in it was not looked at: it is named on stderr

Examples:
  cargo xtask report run.log
  cargo xtask report run.log --format rst -o juno.rst
  cargo xtask report monday.log tuesday.log --merge
  cargo xtask report lava.yaml --format json | jq .runs[0].tests[0]
  cargo xtask report --matrix lab --format md -o matrix.md
  cargo xtask report run.log --format junit -o run.xml --deny-skipped
  cargo xtask report run.log --baseline v2.12.log --rtol 0.01
  cargo xtask report pmf.log --overhead plain.log
  cargo xtask report juno/v2.13 --baseline juno/v2.12 --format rst
  cargo xtask report --serial /dev/ttyUSB0 --log run.log
  cargo xtask report run.log --format tfa-docs --platform juno -o ../trusted-firmware-a",
  formats()))]
pub struct ReportArguments {
    /// The logs, or published tables: a CSV file, or a folder of them. - is
    /// stdin.
    #[arg(
        required_unless_present = "serial",
        conflicts_with = "serial",
        value_name = "LOG"
    )]
    pub logs: Vec<PathBuf>,
    /// The format.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = parse_format)]
    pub format: &'static dyn Exporter,
    /// The file to write, or the directory of a tree [default: stdout].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Only this run of all that are in the logs, from 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..).map(|n| n as usize))]
    pub run: Option<usize>,
    /// Merge all runs, which have to be of one board, by MPIDR.
    #[arg(long, conflicts_with = "run")]
    pub merge: bool,
    /// Put the runs of all logs side by side, by board and firmware. Here LOG
    /// may also be what `cargo xtask lab` has written, with its results: LAVA's
    /// logs and result YAML, labgrid's logs and JUnit. A job or test case that
    /// failed is an error then.
    #[arg(long, conflicts_with_all = ["run", "merge", "baseline", "serial", "overhead"])]
    pub matrix: bool,
    /// Exit with 1 where a run has skipped a scenario or a CPU's row of one. What
    /// was skipped is named.
    #[arg(long, conflicts_with = "overhead")]
    pub deny_skipped: bool,
    /// What TF-A's documentation calls the platform, for --format tfa-docs.
    #[arg(long, value_name = "NAME")]
    pub platform: Option<String>,
    /// Compare with this log, or with these tables: a CSV file, or a folder
    /// of them.
    #[arg(long, value_name = "PATH", conflicts_with = "merge")]
    pub baseline: Option<PathBuf>,
    /// Which run of the baseline's log, from 1.
    #[arg(long, value_name = "N", requires = "baseline", value_parser = clap::value_parser!(u64).range(1..).map(|n| n as usize))]
    pub baseline_run: Option<usize>,
    /// Tell what the firmware's instrumentation costs: LOG is a run under the
    /// build with PMF, and this one under the build without.
    #[arg(long, value_name = "PLAIN", conflicts_with_all = ["baseline", "merge", "format", "output", "serial", "run"])]
    pub overhead: Option<PathBuf>,
    /// How much of the larger figure a change may be that is none, such as
    /// 0.02 or 2%.
    #[arg(long, value_name = "SHARE", requires = "baseline", default_value = "2%", value_parser = parse_share)]
    pub rtol: u32,
    /// Compare though this differs: methods, states (power_state), wakes
    /// (wake-up patterns), boards; or though the run has fewer scenarios, or
    /// cpus, than the baseline; with commas between.
    #[arg(long, value_name = "WHAT,…", requires = "baseline", value_delimiter = ',', value_parser = parse_across)]
    pub across: Vec<Across>,
    /// Which CPUs the rows of the baseline are, in their order: MPIDRs, or
    /// labels such as 1.0.
    #[arg(
        long,
        value_name = "MPIDR,…",
        requires = "baseline",
        value_delimiter = ','
    )]
    pub rows_are: Vec<RowIs>,
    /// Follow a run on this serial port, or on stdin (-), and report at its
    /// end.
    #[arg(long, value_name = "DEVICE")]
    pub serial: Option<PathBuf>,
    /// The serial port's speed [default: 115200].
    #[arg(long, value_name = "N", requires = "serial", value_parser = clap::value_parser!(u32).range(300..=12_000_000))]
    pub baud: Option<u32>,
    /// Write what the serial port says to this file.
    #[arg(short, long, value_name = "FILE", requires = "serial")]
    pub log: Option<PathBuf>,
    /// How many seconds to follow at most [default: 3600].
    #[arg(long, value_name = "SECONDS", requires = "serial", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX))]
    pub timeout: Option<u64>,
}

/// A share as parts of a million: `0.02`, or `2%`.
fn parse_share(text: &str) -> Result<u32, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 10_000.0),
        None => (text, 1_000_000.0),
    };
    let ppm = number.parse::<f64>().ok().map(|it| (it * scale).round());
    match ppm {
        Some(ppm) if (0.0..1_000_000.0).contains(&ppm) => Ok(ppm as u32),
        _ => Err("expected a share below 1, such as 0.02 or 2%".to_owned()),
    }
}

fn parse_across(word: &str) -> Result<Across, String> {
    Ok(match word {
        "methods" => Across::Methods,
        "states" => Across::States,
        "wakes" => Across::Wakes,
        "boards" => Across::Boards,
        "scenarios" => Across::Scenarios,
        "cpus" => Across::Cpus,
        _ => {
            let words = "expected methods, states, wakes, boards, scenarios or cpus";
            return Err(words.to_owned());
        }
    })
}

impl std::fmt::Debug for ReportArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let format = self.format.name();
        write!(
            f,
            "ReportArguments {{ logs: {:?}, format: {format} }}",
            self.logs
        )
    }
}

/// A line for each format.
fn formats() -> String {
    let line = |it: &dyn Exporter| format!("  {:<13} {}\n", it.name(), it.about());
    export::ALL.into_iter().map(line).collect()
}

fn parse_format(name: &str) -> Result<&'static dyn Exporter, String> {
    export::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = export::ALL.iter().map(|it| it.name()).collect();
        format!("the formats are {}", names.join(", "))
    })
}

/// What a run is made of, for all commands that run.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The board: a folder of platforms/ that QEMU emulates.
    #[arg(long, value_name = "NAME", default_value = "qemu")]
    pub board: String,
    /// How many CPUs [default: as the board file says]. The board qemu has up
    /// to 8 with a GICv2; with a GICv3 up to 32 under TF-A and 512 under
    /// QEMU's own PSCI.
    #[arg(long, value_name = "N")]
    pub smp: Option<u32>,
    /// Interrupt controller of machine, firmware and device tree [default: as
    /// the board file says].
    #[arg(long, value_name = "2|3")]
    pub gic: Option<Gic>,
    /// Exception level at which the payload is entered [default: 2; a guest of
    /// KVM has EL1].
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub el: Option<u8>,
    /// CPU model, as QEMU calls it [default: as the board file says].
    #[arg(long, value_name = "MODEL")]
    pub cpu: Option<String>,
    /// Whose PSCI: TF-A's at EL3, QEMU's own (no power-down, no PMF), or KVM's,
    /// as a guest of an emulated Linux with 2 CPUs unless --smp says otherwise:
    /// it fetches Debian's kernel and QEMU for arm64, 62 MB, once.
    #[arg(long, value_enum, default_value_t = Firmware::TfA)]
    pub firmware: Firmware,
    /// How TF-A is built: coherency=hw|sw, gic-reset=0|1, pmf=new|sip|off,
    /// state-id=original|extended, timer-stop=0|1, faults=0|1, osi=0|1, with commas
    /// between [default: the first of each].
    #[arg(long, value_name = "K=V,…")]
    pub variant: Option<Variant>,
    /// A fault that TF-A is to have: a word of the table in
    /// platforms/qemu/tf-a/README.md, then cpu=MPIDR, skip=N, count=N, arg=N
    /// as needed, with commas between. Implies faults=1.
    #[arg(long, value_name = "SPEC", value_parser = fault::check)]
    pub fault: Option<String>,
    /// A TF-A checkout, from 2.12 on, instead of Debian's source package.
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
    /// Count instructions instead of time, on one CPU of the host: runs repeat
    /// byte for byte, on a busy host with rare exceptions.
    #[arg(long)]
    pub icount: bool,
    /// Boot arguments, such as 'iterations=100 method=warm'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
    /// End QEMU after so many seconds [default: 120, or what --smp and --args
    /// ask for, whichever is more: 0.025 for each sample of each CPU, in each
    /// step of a sweep, and somewhat more than twice `duration=` for each
    /// stretch of timer_latency; five times that under KVM].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX))]
    pub timeout: Option<u64>,
    /// Append this device tree instead of one made of the board file.
    #[arg(long, value_name = "FILE")]
    pub dtb: Option<PathBuf>,
    /// Run this file as BL33, as it is, instead of building the payload.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["args", "dtb", "state_format", "core"])]
    pub image: Option<PathBuf>,
    /// Idle states of the device tree that is made of the board file.
    #[command(flatten)]
    pub states: GivenStates,
}

#[cfg(test)]
mod tests;
