//! Prepares runs: builds everything that a run needs.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use follow::RunWatcher;
use host::{interrupt, side_by_side};

use super::boot;
use super::prepared::Prepared;
use super::run_result::RunResult;
use super::run_spec::RunSpec;
use super::validated_run::ValidatedRun;
use crate::build::firmware_kind::FirmwareKind;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, scratch};

/// Prepares a run, executes it without showing it, and determines its verdict.
pub fn prepare_and_run(spec: &RunSpec) -> Result<RunResult> {
    prepare(spec)?.run(&AtomicBool::new(false), &mut RunWatcher::default())
}

/// Installs anything that is missing, and builds anything that is out of date.
pub fn prepare(spec: &RunSpec) -> Result<Prepared> {
    let workspace = Workspace::find()?;
    // A read-only target folder is an error only if something must be built.
    let _ = scratch::remove_left(&workspace);
    let board = boards::load(&spec.board)?;
    let run = ValidatedRun::new(&workspace, &board, spec)?;
    let needs = run.needs();
    setup::check_no_install(&workspace, &[&needs[..], &[Need::RustTarget]].concat())?;
    // Install packages while the payload is being built.
    let (boot, ()) = side_by_side(
        || match spec.firmware {
            FirmwareKind::Builtin => boot::builtin(&run),
            FirmwareKind::TfA | FirmwareKind::TfAStock => boot::tf_a(&run),
            FirmwareKind::Kvm => boot::kvm(&run),
            FirmwareKind::Efi | FirmwareKind::EfiAcpi => boot::edk2(&run),
            FirmwareKind::UBoot => boot::u_boot(&run),
        },
        || setup::ensure(&workspace, &needs),
    )?;
    let prepared = Prepared::new(&run, boot)?;
    // A signal during a build must prevent the machine from starting.
    interrupt::check()?;
    Ok(prepared)
}
