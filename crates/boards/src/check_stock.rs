//! Checks a board file's `[firmware.NAME.stock]` table.

use itertools::Itertools as _;

use super::board::BoardFile;
use super::board_fault::{BoardFault, require};
use super::image_kinds::called;
use super::stock::{INPUT_OPTIONS, Stock};

const RELATIVE: &str = "expected a relative path without \"..\"";

/// Returns the first error found in `stock`, whose key in the board file is `path`.
pub(super) fn check(board: &BoardFile, path: &str, stock: &Stock) -> Result<(), BoardFault> {
    let has_rule = stock.cluster.is_none() || board.cpus.continues.is_some();
    let at = format_args!("{path}.cluster");
    require(has_rule, at, "requires cpus.continues")?;
    let reason = "fip-base is missing; it is required for QEMU's flash";
    let has_other = !stock.loads.is_empty() || stock.not_on_qemu.is_some();
    let has_start = stock.fip_base.is_some() || has_other;
    require(board.qemu.is_none() || has_start, path, reason)?;
    inputs(path, stock)?;
    files(path, stock)?;
    for (index, file) in stock.loads.iter().enumerate() {
        let at = format_args!("{path}.loads[{index}].from");
        require(is_plain(&file.from), at, RELATIVE)?;
    }
    if let Some(proof) = &stock.power_down {
        let at = format_args!("{path}.power-down.file");
        require(is_plain(&proof.file), at, RELATIVE)?;
    }
    let at = format_args!("{path}.images");
    for image in &stock.images {
        let reason = format_args!("fiptool has no option --{}", image.option);
        require(called(&image.option).is_some(), at, reason)?;
    }
    Ok(())
}

fn inputs(path: &str, stock: &Stock) -> Result<(), BoardFault> {
    for (index, input) in stock.inputs.iter().enumerate() {
        let at = format_args!("{path}.inputs[{index}].option");
        let is_known = INPUT_OPTIONS.contains(&&*input.option);
        let reason = format_args!("expected one of {}", INPUT_OPTIONS.join(", "));
        require(is_known, at, reason)?;
        let at = format_args!("{path}.inputs[{index}].max-size");
        require(input.max_size > 0, at, "expected at least 1")?;
    }
    let options = stock.inputs.iter().map(|input| &input.option);
    let twice = options.duplicates().next();
    let reason = format_args!("{} appears twice", twice.map_or("", |option| option));
    require(twice.is_none(), format_args!("{path}.inputs"), reason)
}

/// Returns true if `name` is a relative path that stays inside its base folder.
fn is_plain(name: &str) -> bool {
    let mut parts = name.split('/');
    parts.all(|part| !matches!(part, "" | "." | ".."))
}

/// Checks that no file can be written outside the folder that is copied to the board.
fn files(path: &str, stock: &Stock) -> Result<(), BoardFault> {
    for (index, file) in stock.files.iter().enumerate() {
        for (key, name) in [("from", &file.from), ("to", &file.to)] {
            let at = format_args!("{path}.files[{index}].{key}");
            require(is_plain(name), at, RELATIVE)?;
        }
    }
    let places = stock.files.iter().map(|file| &file.to);
    let twice = places.duplicates().next();
    let reason = format_args!(
        "two files are copied to {}",
        twice.map_or("", |place| place)
    );
    require(twice.is_none(), format_args!("{path}.files"), reason)
}
