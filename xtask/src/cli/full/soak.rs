//! `cargo xtask soak`.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use host::interrupt;
use host::progress::{StepProgress, say};
use host::stdout::Out;
use report::follow::screen::Screen;

use crate::cli::qemu::{self, RunArguments};
use crate::qemu::prepare;
use crate::setup::workspace::Workspace;
use crate::soak::{Keep, SoakLimits, has_suspends, keep_busy, soak};

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
    /// The end.
    #[command(flatten)]
    pub limits: SoakLimits,
    /// Keep so many of the host's CPUs busy meanwhile.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub load: u16,
    /// Keep the logs of runs that do not PASS and a summary in this new or
    /// empty directory [default: the next number in target/psci-bench/soak].
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// The run.
    #[command(flatten)]
    pub run: RunArguments,
}

pub(super) fn run(arguments: &SoakArguments) -> Result<u8> {
    let spec = qemu::spec(&arguments.run)?;
    let limits = arguments.limits;
    if let (Some(count), Some(args)) = (limits.suspends, &spec.args)
        && !has_suspends(&crate::cli::common::plan(Some(args))?)
    {
        bail!("--suspends {count}: --args {args:?} asks for no scenario with CPU_SUSPENDs");
    }
    if let Some(dir) = &arguments.keep {
        Keep::check(dir)?;
    }
    let interrupt = interrupt::watch()?;
    let prepared = prepare::prepare(&spec)?;
    let mut keep = match &arguments.keep {
        Some(dir) => Keep::at(dir)?,
        None => Keep::in_next(&Workspace::find()?.state().join("soak"))?,
    };
    say(&format!("logs and summary: {}", keep.dir().display()));
    let load = arguments.load;
    keep_busy(load).with_context(|| format!("--load {load}"))?;
    let started = Instant::now();
    let mut run = || {
        let (mut out, progress) = (io::sink(), StepProgress::on_terminal("starting QEMU"));
        let mut screen = Screen::new(None, &mut out, Some(progress));
        let result = prepared.run(interrupt, &mut screen)?;
        Ok((started.elapsed(), result))
    };
    let limits = limits.or_default();
    let totals = soak(&mut run, &limits, &mut keep, &mut Out::default())?;
    Ok(totals.exit_code())
}
