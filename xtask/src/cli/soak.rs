//! `cargo xtask soak`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::arguments::SoakArguments;
use super::qemu;
use crate::qemu::prepare::{self, Prepared};
use crate::qemu::run_result::RunResult;
use crate::setup::progress::say;
use crate::setup::stdout::Out;
use crate::setup::workspace::Workspace;
use crate::soak::{Keep, Limits, Load, Runner, has_suspends, soak};

/// A machine that is started again and again.
struct Machine {
    prepared: Prepared,
    interrupt: Arc<AtomicBool>,
    started: Instant,
}

impl Runner for Machine {
    fn run(&mut self) -> Result<RunResult> {
        self.prepared.run(&self.interrupt, &mut io::sink())
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

pub(super) fn run(arguments: &SoakArguments) -> Result<u8> {
    let spec = qemu::spec(&arguments.run)?;
    let limits = Limits {
        time: arguments.time,
        runs: arguments.runs,
        suspends: arguments.suspends,
    };
    if let (Some(count), Some(args)) = (limits.suspends, &spec.args)
        && !has_suspends(&super::main::plan(Some(args))?)
    {
        bail!("--suspends {count}: --args {args:?} asks for no scenario with CPU_SUSPENDs");
    }
    if let Some(dir) = &arguments.keep {
        Keep::check(dir)?;
    }
    let interrupt = super::main::interruption()?;
    let prepared = prepare::prepare(&spec)?;
    let mut keep = match &arguments.keep {
        Some(dir) => Keep::at(dir)?,
        None => Keep::in_next(&Workspace::find()?.state().join("soak"))?,
    };
    say(&format!("logs and summary: {}", keep.dir().display()));
    let load = arguments.load;
    let load = Load::start(load.into()).with_context(|| format!("--load {load}"))?;
    let mut machine = Machine {
        prepared,
        interrupt,
        started: Instant::now(),
    };
    let limits = limits.or_default();
    let totals = soak(&mut machine, &limits, &mut keep, &mut Out::default())?;
    drop(load);
    Ok(totals.exit_code())
}
