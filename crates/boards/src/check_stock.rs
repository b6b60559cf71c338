//! Checks a board file's `[firmware.NAME.stock]` table.

use itertools::Itertools as _;

use super::board::BoardFile;
use super::board_fault::{BoardFault, require};
use super::image_kinds::find_by_option;
use super::stock::{INPUT_OPTIONS, Stock};

const RELATIVE: &str = "expected a relative path without \"..\"";

/// Returns the first error found in `stock`, whose key in the board file is `path`.
pub(super) fn check_stock(board: &BoardFile, path: &str, stock: &Stock) -> Result<(), BoardFault> {
    require(
        stock.cluster.is_none() || board.cpus.continues.is_some(),
        format_args!("{path}.cluster"),
        "requires cpus.continues",
    )?;
    let has_other = !stock.loads.is_empty() || stock.not_on_qemu.is_some();
    let has_start = stock.fip_base.is_some() || has_other;
    require(
        board.qemu.is_none() || has_start,
        path,
        "fip-base is missing; it is required for QEMU's flash",
    )?;
    inputs(path, stock)?;
    files(path, stock)?;
    for (index, file) in stock.loads.iter().enumerate() {
        let key = format_args!("{path}.loads[{index}].from");
        require(is_plain(&file.from), key, RELATIVE)?;
    }
    if let Some(proof) = &stock.power_down {
        let key = format_args!("{path}.power-down.file");
        require(is_plain(&proof.file), key, RELATIVE)?;
    }
    for image in &stock.images {
        require(
            find_by_option(&image.option).is_some(),
            format_args!("{path}.images"),
            format_args!("fiptool has no option --{}", image.option),
        )?;
    }
    Ok(())
}

fn inputs(path: &str, stock: &Stock) -> Result<(), BoardFault> {
    for (index, input) in stock.inputs.iter().enumerate() {
        require(
            INPUT_OPTIONS.contains(&&*input.option),
            format_args!("{path}.inputs[{index}].option"),
            format_args!("expected one of {}", INPUT_OPTIONS.join(", ")),
        )?;
        require(
            input.max_size > 0,
            format_args!("{path}.inputs[{index}].max-size"),
            "expected at least 1",
        )?;
    }
    let mut options = stock.inputs.iter().map(|input| &input.option).duplicates();
    match options.next() {
        None => Ok(()),
        Some(option) => Err(BoardFault::new(
            format_args!("{path}.inputs"),
            format_args!("{option} appears twice"),
        )),
    }
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
            let full_key = format_args!("{path}.files[{index}].{key}");
            require(is_plain(name), full_key, RELATIVE)?;
        }
    }
    let mut places = stock.files.iter().map(|file| &file.to).duplicates();
    match places.next() {
        None => Ok(()),
        Some(place) => Err(BoardFault::new(
            format_args!("{path}.files"),
            format_args!("two files are copied to {place}"),
        )),
    }
}
