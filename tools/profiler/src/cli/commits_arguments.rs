//! The commits of a TF-A checkout that `ledger` and `bisect` measure.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use host::exit_code::INCOMPLETE;
use host::files;
use host::progress::say;
use report::cli::ToleranceArgument;
use runner::build::checkout::CommitRange;
use runner::qemu::run_arguments::RunArguments;
use suite::plan::ScenarioId;

use crate::commits::figure_comparison::{FigureComparison, Selected};
use crate::commits::ledger::{CommitLedger, Comparison};
use crate::commits::ledger_bench::LedgerBench;
use crate::commits::ledger_export::{self, LedgerFormat, LedgerText};
use crate::profile::event::Event;

/// The commits, how to run them, and the output.
#[derive(Debug, Args)]
#[command(mut_arg("tolerance", |tolerance| tolerance.default_value("1%")))]
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
    #[command(flatten)]
    pub tolerance: ToleranceArgument,
    /// Format: text, html, csv, json.
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    #[arg(default_value_t = LedgerFormat::Text)]
    pub format: LedgerFormat,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl CommitsArguments {
    /// Returns the comparison of all figures, counting `unit` if it is specified.
    pub(super) fn all_figures(&self, unit: Option<Event>) -> FigureComparison {
        FigureComparison::all(self.tolerance(), unit)
    }

    /// Returns the comparison of one figure.
    pub(super) fn one_figure(&self, figure: Selected) -> FigureComparison {
        FigureComparison::one(self.tolerance(), figure)
    }

    fn tolerance(&self) -> f64 {
        f64::from(self.tolerance.ppm) / 1e6
    }

    /// Returns the run to profile, which measures just the `only` scenario if it is specified and
    /// `--args` selects none.
    pub(super) fn profiled_run(&self, only: Option<ScenarioId>) -> RunArguments {
        let mut run = self.run.clone();
        let args = run.spec.args.as_deref().unwrap_or_default();
        if let Some(only) = only.filter(|_| selection(args).is_none()) {
            run.spec.args = Some(format!("{args} only={only}").trim_start().to_owned());
        }
        run
    }

    /// Returns the run that checks which functions work.
    pub(super) fn checked_run(&self) -> Result<RunArguments> {
        let mut run = self.run.clone();
        run.spec.icount = true;
        run.spec.args = Some(fitness_arguments(run.spec.args.as_deref())?);
        Ok(run)
    }

    /// Measures the commits with `measure`, in a run with the arguments `run`. Writes the resulting
    /// ledger and returns the exit code.
    pub(super) fn measure<C: Comparison>(
        &self,
        run: &RunArguments,
        only_releases: bool,
        comparison: C,
        measure: impl FnOnce(LedgerBench<C>) -> Result<CommitLedger<C>>,
    ) -> Result<u8>
    where
        CommitLedger<C>: LedgerText,
    {
        self.check_output()?;
        let range = CommitRange {
            ends: &self.range,
            first_parent: self.first_parent,
            only_releases,
        };
        let ledger = measure(LedgerBench::new(&run.to_spec()?, &range, comparison)?)?;
        self.write(|out| ledger_export::write(self.format, &ledger, out))?;
        for line in ledger.conclusion() {
            say(&line);
        }
        match ledger.lack() {
            Some(_) => Ok(INCOMPLETE),
            None => Ok(u8::from(ledger.is_worse())),
        }
    }

    /// Rejects an output file that cannot be written, before anything is measured.
    fn check_output(&self) -> Result<()> {
        let checkout = self.run.spec.tf_a.as_deref();
        match self.output.as_deref() {
            Some(output) => files::check_output(("-o", output), &[("--tf-a", checkout)]),
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

/// Returns the boot argument that selects scenarios, if there is one.
fn selection(args: &str) -> Option<&str> {
    args.split_whitespace()
        .find(|word| word.starts_with("only="))
}

/// Adds the `fitness` scenario to boot arguments.
fn fitness_arguments(args: Option<&str>) -> Result<String> {
    let args = args.unwrap_or_default();
    if let Some(only) = selection(args) {
        bail!("--args {only}: verdicts come from the fitness scenario alone; omit only=");
    }
    Ok(format!("{args} only=fitness").trim_start().to_owned())
}
