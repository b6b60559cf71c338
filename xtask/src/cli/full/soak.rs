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

/// Repeat runs on QEMU, and keep logs of runs that do not pass.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask soak
  cargo xtask soak --time 8h --load 2 --keep night
  cargo xtask soak --suspends 100000 --smp 32 --args 'iterations=100'

Exit codes: 1 if a run failed; otherwise 3 if one is INCOMPLETE or none ran
Details: docs/qemu.md")]
pub struct SoakArguments {
    /// When to stop.
    #[command(flatten)]
    pub limits: SoakLimits,
    /// Keep N of the host's CPUs busy.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub load: u16,
    /// New directory for the logs.
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
        bail!("--suspends {count}: --args {args:?} selects no scenario with CPU_SUSPEND");
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
