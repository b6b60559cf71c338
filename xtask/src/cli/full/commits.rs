//! The commits of a TF-A checkout that `ledger` and `bisect` measure.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use host::exit_code::INCOMPLETE;
use host::files;
use host::progress::say;
use report::cli::parse_share;
use suite::plan::ScenarioId;

use crate::build::checkout::CommitRange;
use crate::cli::qemu::{self, RunArguments};
use crate::commits::ledger::CommitLedger;
use crate::commits::ledger_bench::LedgerBench;
use crate::commits::ledger_export::{self, LedgerFormat};
use crate::commits::verdict_bench::VerdictBench;
use crate::commits::verdict_export;
use crate::commits::verdict_ledger::VerdictLedger;

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
    /// Profiles the commits with `measure`, which is passed the commit range and a tolerance.
    /// Runs just the `only` scenario if it is specified and `--args` selects none. Writes the
    /// resulting ledger and returns the exit code.
    pub(super) fn profile(
        &self,
        only_releases: bool,
        only: Option<ScenarioId>,
        measure: impl FnOnce(LedgerBench, &str, f64) -> Result<CommitLedger>,
    ) -> Result<u8> {
        self.check_output()?;
        let mut run = self.run.clone();
        let args = run.spec.args.as_deref().unwrap_or_default();
        if let Some(only) = only.filter(|_| selection(args).is_none()) {
            run.spec.args = Some(format!("{args} only={only}").trim_start().to_owned());
        }
        let spec = qemu::spec(&run)?;
        let bench = LedgerBench::new(&spec, &self.commit_range(only_releases))?;
        let ledger = measure(bench, &self.range, f64::from(self.tolerance) / 1e6)?;
        self.write(|out| ledger_export::write(self.format, &ledger, out))?;
        Ok(exit_code(
            &ledger_export::conclusion(&ledger),
            ledger.lack().is_some(),
            ledger.is_worse(),
        ))
    }

    /// Runs the fitness checks on the commits with `measure`, which is passed the commit range.
    /// Writes the resulting ledger and returns the exit code.
    pub(super) fn check(
        &self,
        only_releases: bool,
        measure: impl FnOnce(VerdictBench, &str) -> Result<VerdictLedger>,
    ) -> Result<u8> {
        self.check_output()?;
        let mut run = self.run.clone();
        run.spec.icount = true;
        run.spec.args = Some(fitness_arguments(run.spec.args.as_deref())?);
        let spec = qemu::spec(&run)?;
        let bench = VerdictBench::new(&spec, &self.commit_range(only_releases))?;
        let ledger = measure(bench, &self.range)?;
        self.write(|out| verdict_export::write(self.format, &ledger, out))?;
        Ok(exit_code(
            &verdict_export::conclusion(&ledger),
            ledger.lack().is_some(),
            ledger.is_worse(),
        ))
    }

    fn commit_range(&self, only_releases: bool) -> CommitRange<'_> {
        CommitRange {
            ends: &self.range,
            first_parent: self.first_parent,
            only_releases,
        }
    }

    /// Rejects an output file that cannot be written, before anything is measured.
    fn check_output(&self) -> Result<()> {
        let checkout = self.run.spec.tf_a.as_deref();
        match self.output.as_deref() {
            Some(output) => files::check(("-o", output), &[("--tf-a", checkout)]),
            None => Ok(()),
        }
    }

    fn write(&self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let print = match self.format {
            LedgerFormat::Text => files::write_or_print_text,
            _ => files::write_or_print,
        };
        print(self.output.as_deref(), write)
    }
}

/// Prints a ledger's conclusion and returns the exit code.
fn exit_code(conclusion: &[String], is_lacking: bool, is_worse: bool) -> u8 {
    conclusion.iter().for_each(|line| say(line));
    match is_lacking {
        true => INCOMPLETE,
        false => u8::from(is_worse),
    }
}

/// Returns the boot argument that selects scenarios, if there is one.
fn selection(args: &str) -> Option<&str> {
    args.split_whitespace().find(|it| it.starts_with("only="))
}

/// Adds the `fitness` scenario to boot arguments.
fn fitness_arguments(args: Option<&str>) -> Result<String> {
    let args = args.unwrap_or_default();
    if let Some(only) = selection(args) {
        bail!("--args {only}: verdicts come from the fitness scenario alone; omit only=");
    }
    Ok(format!("{args} only=fitness").trim_start().to_owned())
}
