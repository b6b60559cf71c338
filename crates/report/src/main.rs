//! `psci-report`: the reports of `cargo xtask`, without a checkout.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use host::exit_code;
use report::cli::report::{ReportArguments, after_help, run};

/// Makes tables, comparisons and pages out of psci-bench's logs.
#[derive(Debug, Parser)]
#[command(name = "psci-report", version)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

/// A command.
#[derive(Debug, Subcommand)]
enum Verb {
    #[command(after_help = after_help("psci-report"))]
    Report(Box<ReportArguments>),
}

fn main() -> ExitCode {
    let Verb::Report(arguments) = Arguments::parse().verb;
    ExitCode::from(exit_code::of(run(&arguments)))
}
