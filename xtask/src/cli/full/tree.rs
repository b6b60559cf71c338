//! `cargo xtask tree`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use device_tree::acpi::{self, Tables};
use device_tree::adapt;
use dtoolkit::fdt::Fdt;
use dtoolkit::model::DeviceTree;
use hardware::board::{Board, Gic, Region};
use hardware::text::plural::many;
use host::files;
use host::progress::say;
use host::read_file;
use regex::{Captures, Regex};
use thiserror::Error;

use super::fip::images::{FormError, number};
use crate::build::image_contents::adapt_for_efi;

/// The maximum size of a table, in bytes.
const TABLE_MAX: usize = 16 << 20;
/// The subfolder of Linux's ACPI table folder for dynamically loaded tables.
const LATER: &str = "dynamic";

/// A command of `tree`.
#[derive(Debug, Subcommand)]
pub enum TreeVerb {
    /// Make a device tree from ACPI tables, as the EFI application does.
    #[command(after_help = "\
Examples:
  cargo xtask tree from-acpi /sys/firmware/acpi/tables -o board.dtb
  cargo xtask tree from-acpi FACP APIC GTDT PPTT SPCR DSDT \\
      --memory 0x80000000+0x40000000

Details: docs/efi.md")]
    FromAcpi(FromAcpi),
}

/// Arguments of `tree from-acpi`.
#[derive(Debug, Args)]
pub struct FromAcpi {
    /// Binary tables, or folders of tables.
    #[arg(required = true, value_name = "FILE")]
    pub tables: Vec<PathBuf>,
    /// Memory, which ACPI does not list; not needed for EFI applications.
    #[arg(long, value_name = "BASE+SIZE", value_parser = region)]
    pub memory: Vec<Region>,
    /// Write a blob to this file [default: print the source].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// An argument that is not a region.
#[derive(Debug, Error)]
enum RegionError {
    #[error("use BASE+SIZE")]
    NotAPair,
    #[error(transparent)]
    Number(#[from] FormError),
    #[error("this exceeds 64-bit addresses")]
    NoSuchAddress,
}

/// Parses a region, given as an address and a size in bytes.
fn region(text: &str) -> Result<Region, RegionError> {
    let parts = text.split_once('+').ok_or(RegionError::NotAPair)?;
    let (base, size) = (number(parts.0)?, number(parts.1)?);
    match base.checked_add(size) {
        Some(_) if size > 0 => Ok(Region { base, size }),
        _ => Err(RegionError::NoSuchAddress),
    }
}

pub(super) fn run(verb: TreeVerb) -> Result<u8> {
    let TreeVerb::FromAcpi(arguments) = verb;
    let mut paths = Vec::new();
    for path in &arguments.tables {
        match path.is_dir() {
            true => paths.extend(tables_in(path)?),
            false => paths.push(path.clone()),
        }
    }
    if let Some(output) = &arguments.output {
        let inputs: Vec<_> = paths.iter().map(|path| ("FILE", Some(&**path))).collect();
        files::check(("--output", output), &inputs)?;
    }
    let read = |path: &PathBuf| read_file::read("", path, TABLE_MAX);
    let tables = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    let tables: Vec<&[u8]> = tables.iter().map(Vec::as_slice).collect();
    let made = Tables::of_files(&tables).and_then(|tables| acpi::to_tree(&tables, "arm,armv8"));
    let made = made.map_err(|error| anyhow!(with_names(error.to_string(), &paths)))?;
    for note in made.notes {
        say(&format!("note: {}", with_names(note, &paths)));
    }
    let memory = Some(&*arguments.memory).filter(|memory| !memory.is_empty());
    let tree = match memory {
        Some(_) => adapt(&made.tree, None, memory).context("the payload cannot use the tree")?,
        None => made.tree,
    };
    let summary = summary(&tree).context("the payload cannot use the tree")?;
    match &arguments.output {
        Some(path) => files::write(&[(("--output", path), &tree)])?,
        None => files::write_or_print(None, |out| {
            let tree = DeviceTree::from_fdt(&Fdt::new_unchecked(&tree));
            Ok(write!(out, "{tree}")?)
        })?,
    }
    say(&summary);
    Ok(0)
}

/// Adds file names to `message`, which refers to files by number.
fn with_names(message: String, paths: &[PathBuf]) -> String {
    static FILE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"file (\d+)").expect("a pattern"));
    let name = |found: &Captures<'_>| {
        let number = found[1].parse::<usize>().ok();
        let path = number.and_then(|number| paths.get(number.checked_sub(1)?));
        path.map_or(found[0].to_owned(), |path| path.display().to_string())
    };
    FILE.replace_all(&message, name).into_owned()
}

/// Returns the tables in `folder` and in its subfolder for dynamically loaded tables, sorted by
/// name.
fn tables_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let later = folder.join(LATER);
    for folder in [folder, &later].into_iter().filter(|it| it.is_dir()) {
        let named = || folder.display().to_string();
        for entry in fs::read_dir(folder).with_context(named)? {
            let path = entry.with_context(named)?.path();
            found.extend(path.is_file().then_some(path));
        }
    }
    if found.is_empty() {
        bail!("{}: the folder contains no files", folder.display());
    }
    found.sort();
    Ok(found)
}

/// Describes the board that the payload reads from `tree`.
fn summary(tree: &[u8]) -> Result<String> {
    let tree = adapt_for_efi(tree, None)?;
    let board = Board::read(&tree)?;
    let gic = match board.gic {
        Some(Gic::V2 { .. }) => "GICv2",
        Some(Gic::V3 { .. }) => "GICv3",
        None => "no GIC",
    };
    let (cpus, states) = (
        many(board.cpu_count, "CPU"),
        many(board.idle_states.len(), "idle state"),
    );
    Ok(format!("found {cpus}, {gic}, {states}"))
}
