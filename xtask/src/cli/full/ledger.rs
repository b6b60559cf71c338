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

/// Profile each commit of a TF-A checkout, and name the changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask ledger --tf-a ../trusted-firmware-a v2.12.0..v2.13.0
  cargo xtask ledger --tf-a ../trusted-firmware-a HEAD~5..HEAD \\
      --bisect susp_deep_serial:cache-flush

Exit codes: 1 a figure grows; 3 interrupted, or an end cannot be measured
Details: docs/profile.md, docs/qemu.md")]
pub struct LedgerArguments {
    /// Commits after A up to B, by git's names.
    #[arg(value_name = "A..B")]
    pub range: String,
    /// The run, of which --icount and samples=all are implied.
    #[command(flatten)]
    pub run: RunArguments,
    /// Follow only the first parent of a merge.
    #[arg(long)]
    pub first_parent: bool,
    /// Find what changes SCENARIO:PHASE, by halves.
    #[arg(long, value_name = "FIGURE")]
    pub bisect: Option<String>,
    /// Change that counts as none.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share)]
    pub tolerance: u32,
    /// Format: text, html, csv, json.
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    #[arg(default_value_t = LedgerFormat::Text)]
    pub format: LedgerFormat,
    /// File to write [default: stdout].
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
    let (range, tolerance) = (&arguments.range, f64::from(arguments.tolerance) / 1e6);
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
