//! The commits of a TF-A checkout that `ledger` and `bisect` measure.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::exit_code::INCOMPLETE;
use host::files;
use host::progress::say;
use report::cli::parse_share;

use crate::cli::qemu::{self, RunArguments};
use crate::profile::ledger::CommitLedger;
use crate::profile::ledger_bench::LedgerBench;
use crate::profile::ledger_export::{self, LedgerFormat, conclusion};

/// The commits, how to run them, and the output.
#[derive(Debug, Args)]
pub struct CommitsArguments {
    /// Commits after A up to B, in git notation.
    #[arg(value_name = "A..B")]
    pub range: String,
    /// The run; --icount and samples=all are implied.
    #[command(flatten)]
    pub run: RunArguments,
    /// Follow only the first parent of a merge.
    #[arg(long)]
    pub first_parent: bool,
    /// Largest change to ignore.
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

impl CommitsArguments {
    /// Calls `measure` with the commit range and a tolerance, writes the resulting ledger, and
    /// returns the exit code.
    pub(super) fn run(
        &self,
        measure: impl FnOnce(LedgerBench, &str, f64) -> Result<CommitLedger>,
    ) -> Result<u8> {
        let output = self.output.as_deref();
        if let Some(output) = output {
            let checkout = self.run.spec.tf_a.as_deref();
            files::check(("-o", output), &[("--tf-a", checkout)])?;
        }
        let spec = qemu::spec(&self.run)?;
        let bench = LedgerBench::new(&spec, &self.range, self.first_parent)?;
        let ledger = measure(bench, &self.range, f64::from(self.tolerance) / 1e6)?;
        let write = |out: &mut dyn Write| ledger_export::write(self.format, &ledger, out);
        let print = match self.format {
            LedgerFormat::Text => files::write_or_print_text,
            _ => files::write_or_print,
        };
        print(output, write)?;
        conclusion(&ledger).iter().for_each(|line| say(line));
        Ok(match ledger.lack() {
            Some(_) => INCOMPLETE,
            None => u8::from(ledger.is_worse()),
        })
    }
}
