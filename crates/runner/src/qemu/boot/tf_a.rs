//! TF-A with the payload, or another program, as BL33.

use std::fs;
use std::path::Path;

use anyhow::Result;
use host::progress::say_once;
use host::side_by_side;

use super::boot::{Boot, Stages};
use super::payload_image::{image, stamp};
use crate::build::bl32;
use crate::build::firmware::{self, FirmwareBuild, Platform, Timestamps};
use crate::build::tf_a::TfA;
use crate::qemu::command_line;
use crate::qemu::symbols::Symbols;
use crate::qemu::validated_run::ValidatedRun;

/// Boots TF-A, built from the requested source or, by default, from the pinned one.
pub fn tf_a(run: &ValidatedRun<'_>) -> Result<Boot> {
    let described = run.board.firmware(run.spec.firmware.name())?;
    let stock = described.stock.as_ref();
    let mut states = run.spec.states;
    let mut source = run.tf_a.clone();
    if let Some(stock) = stock {
        let stock_source = located(run, source)?;
        stock_source.check_stock(stock)?;
        if let Some(lack) = stock_source.lacks_power_down(stock)? {
            say_once(&format!("warning: {lack}"));
            states = states.without_power_down();
        }
        source = Some(stock_source);
    }
    let (bl33, build) = side_by_side(
        || image(run, states),
        || build(run, located(run, source)?, described),
    )?;
    let mut image = bl33.image;
    stamp(run, &mut image, Some(&build))?;
    let mut map = bl33.map;
    map.image = run.board.load_address;
    // CPUs that have not been powered on yet wait in BL1.
    let functions = |stage: &str| functions(&build.dir.join(stage));
    map.firmware = functions("bl31.elf").and(functions("bl1.elf"));
    let stages = Stages {
        build,
        stock: stock.cloned(),
        load_address: run.board.load_address,
    };
    let mut boot = stages.boot(image)?;
    boot.map = map;
    if let Some(address) = stock.and_then(|stock| stock.starts_at) {
        for cpu in 0..run.machine.recipe.cpus {
            boot.arguments
                .extend(command_line::start_option(cpu, address));
        }
    }
    Ok(boot)
}

/// Returns `source` or, by default, the pinned source.
fn located(run: &ValidatedRun<'_>, source: Option<TfA>) -> Result<TfA> {
    match source {
        Some(source) => Ok(source),
        None => TfA::locate(run.workspace, None),
    }
}

/// Builds the firmware `described` in the board file from `source`.
fn build(
    run: &ValidatedRun<'_>,
    source: TfA,
    described: &boards::Firmware,
) -> Result<FirmwareBuild> {
    let spec = run.spec;
    let variant = match spec.fault {
        Some(_) => spec.variant.with("faults=1"),
        None => spec.variant,
    };
    let gic = run.machine.gic;
    let mut platform = match &described.stock {
        Some(stock) => {
            let timestamps = Timestamps::find(described.pmf, &source.dir, &source.version);
            let mut platform = Platform::of_board(run.workspace, run.board, stock, gic);
            if variant.has("pmf=off") {
                // TF-A's implementation of PSCI_STAT needs PMF.
                platform.add_variables(&["ENABLE_PSCI_STAT=0".to_owned()]);
            } else {
                platform.add_variables(timestamps.variables());
            }
            platform
        }
        None => Platform::overlay(run.workspace, &spec.board, gic, variant),
    };
    if spec.bl32.is_some() {
        platform.add_variables(&bl32::VARIABLES.map(str::to_owned));
    }
    let build = firmware::build(run.workspace, &source, &platform)?;
    Ok(FirmwareBuild {
        bl32: spec.bl32.clone(),
        ..build
    })
}

/// Returns the functions in the ELF file at `elf`, or none if it cannot be read. Without these
/// functions, the diagnosis of a hung run has less detail.
fn functions(elf: &Path) -> Symbols {
    fs::read(elf).map_or_else(|_| Symbols::default(), |elf| Symbols::of(&elf))
}
