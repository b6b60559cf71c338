//! `cargo xtask ledger`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::exit_code::INCOMPLETE;
use host::files;
use host::progress::say;
use report::cli::parse_share;

use crate::cli::qemu::{self, RunArguments};
use crate::profile::ledger::{LedgerBench, Selected};
use crate::profile::ledger_export::{self, LedgerFormat, conclusion};

/// Arguments of `ledger`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  done, and neither a commit nor the whole range makes a figure larger by
     more than --rtol
  1  done, and a commit does, or the whole range: it is named
  2  bad input or use, or a failure of this machine, such as a full disk
  3  the first or the last commit cannot be measured, or the last lacks a figure;
     or interrupted: the same command goes on from there

Examples:
  cargo xtask ledger --tf-a ../trusted-firmware-a v2.12.0..v2.13.0 --first-parent
  cargo xtask ledger --tf-a ../trusted-firmware-a HEAD~5..HEAD --format html -o ledger.html
  cargo xtask ledger --tf-a ../trusted-firmware-a v2.12.0..v2.13.0 \\
      --bisect susp_deep_serial:cache-flush
  cargo xtask ledger --tf-a ../trusted-firmware-a v2.12.0..v2.13.0 --first-parent \\
      --bisect susp_deep_parallel:entry:all")]
pub struct LedgerArguments {
    /// The commits, after A up to B; A is what the first is compared with. Names
    /// are git's.
    #[arg(value_name = "A..B")]
    pub range: String,
    /// The run. --tf-a names the checkout; --icount and samples=all are implied.
    #[command(flatten)]
    pub run: RunArguments,
    /// Follow only the first parent of a merge.
    #[arg(long)]
    pub first_parent: bool,
    /// Find the commits that change this figure, by halves, the largest change
    /// first: a CPU's own instructions, or with :all those of all CPUs, PMF's
    /// ticks. Figures are listed if there is none of this name.
    #[arg(long, value_name = "SCENARIO:PHASE[:all]")]
    pub bisect: Option<String>,
    /// Share of a figure below which a difference is no step, such as 0.02 or 2%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share)]
    pub rtol: u32,
    /// The format.
    #[arg(long, value_enum, default_value_t = LedgerFormat::Text)]
    pub format: LedgerFormat,
    /// The file to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(arguments: &LedgerArguments) -> Result<u8> {
    if let Some(output) = &arguments.output {
        files::check(
            ("-o", output),
            &[("--tf-a", arguments.run.spec.tf_a.as_deref())],
        )?;
    }
    let spec = qemu::spec(&arguments.run)?;
    let bench = LedgerBench::new(&spec, &arguments.range, arguments.first_parent)?;
    let (range, tolerance) = (&arguments.range, f64::from(arguments.rtol) / 1e6);
    let ledger = match &arguments.bisect {
        Some(figure) => bench.bisect(range, tolerance, Selected::parse(figure))?,
        None => bench.ledger(range, tolerance)?,
    };
    let format = arguments.format;
    let write = |out: &mut dyn Write| ledger_export::write(format, &ledger, out);
    files::write_or_print(arguments.output.as_deref(), write)?;
    conclusion(&ledger).iter().for_each(|line| say(line));
    Ok(match ledger.lack() {
        Some(_) => INCOMPLETE,
        None => u8::from(ledger.is_worse()),
    })
}
