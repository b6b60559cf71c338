//! Prepares runs: builds everything that a run needs.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use follow::RunWatcher;
use host::{interrupt, side_by_side};

use super::boot::BootBuilder;
use super::loader::FirmwareLoader;
use super::prepared::Prepared;
use super::run_result::RunResult;
use super::run_spec::RunSpec;
use super::validated_run::ValidatedRun;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, scratch};

/// Prepares a run, executes it without showing it, and determines its verdict.
pub fn prepare_and_run(spec: &RunSpec) -> Result<RunResult> {
    prepare(spec)?.run(&AtomicBool::new(false), &mut RunWatcher::default())
}

/// Installs anything that is missing, and builds anything that is out of date.
///
/// # Errors
/// Returns an error if an option is not supported, or something cannot be installed or built.
pub fn prepare(spec: &RunSpec) -> Result<Prepared> {
    prepare_with(spec, &FirmwareLoader)
}

/// Prepares a run like [`prepare`], in which `loader` starts the payload.
///
/// # Errors
/// Returns an error if an option is not supported, or something cannot be installed or built.
pub fn prepare_with(spec: &RunSpec, loader: &'static dyn BootBuilder) -> Result<Prepared> {
    let workspace = Workspace::find()?;
    // A read-only target folder is an error only if something must be built.
    let _ = scratch::remove_left(&workspace);
    let board = boards::load(&spec.board)?;
    let run = ValidatedRun::new(&workspace, &board, spec, loader)?;
    let needs = run.needs();
    setup::check_no_install(&workspace, &[&needs[..], &[Need::RustTarget]].concat())?;
    // Install packages while the payload is being built.
    let (boot, ()) = side_by_side(
        || loader.build_boot(&run),
        || setup::ensure(&workspace, &needs),
    )?;
    let prepared = Prepared::new(&run, boot)?;
    // A signal during a build must prevent the machine from starting.
    interrupt::check()?;
    Ok(prepared)
}
