//! `cargo xtask tree`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use device_tree::acpi;
use device_tree::adapt;
use dtoolkit::fdt::Fdt;
use dtoolkit::model::DeviceTree;
use hardware::board::Region;
use host::files;
use host::progress::say;
use host::stdout::Out;
use thiserror::Error;

use super::fip::images::{FormError, number};
use runner::build::acpi_files::AcpiFiles;
use runner::build::image_contents::{adapt_without_memory, summary};
use runner::build::tree_file::read_tree;

/// A command of `tree`.
#[derive(Debug, Subcommand)]
pub enum TreeVerb {
    /// Make a device tree from ACPI tables, as the EFI application does.
    #[command(after_help = "\
Examples:
  cargo xtask tree from-acpi /sys/firmware/acpi/tables -o board.dtb
  cargo xtask tree from-acpi acpidump.out -o board.dtb
  cargo xtask tree from-acpi FACP APIC GTDT PPTT SPCR DSDT \\
      --memory 0x80000000+0x40000000

Details: docs/first-boot.md, Device trees")]
    FromAcpi(FromAcpi),
    /// Print what the payload reads from a device tree, or why it cannot use it.
    #[command(after_help = "\
Example:
  cargo xtask tree show my-board.dtb

Details: docs/first-boot.md, Device trees")]
    Show {
        /// A device tree blob.
        tree: PathBuf,
    },
}

/// Arguments of `tree from-acpi`.
#[derive(Debug, Args)]
pub struct FromAcpi {
    /// Binary tables, output of acpidump, or folders of tables.
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
    match verb {
        TreeVerb::FromAcpi(arguments) => from_acpi(&arguments),
        TreeVerb::Show { tree } => show(&tree),
    }
}

/// Prints what the payload reads from the tree in a file.
fn show(path: &Path) -> Result<u8> {
    let blob = read_tree("TREE", path)?;
    let summary = summary(&blob).with_context(|| path.display().to_string())?;
    writeln!(Out::default(), "{summary}")?;
    Ok(0)
}

fn from_acpi(arguments: &FromAcpi) -> Result<u8> {
    let files = AcpiFiles::read(&arguments.tables)?;
    if let Some(output) = &arguments.output {
        let inputs = files.paths.iter().map(|path| ("FILE", Some(&**path)));
        files::check_output(("--output", output), &inputs.collect::<Vec<_>>())?;
    }
    let made = files.convert(|tables| acpi::to_tree(tables, "arm,armv8"))?;
    let memory = Some(&*arguments.memory).filter(|memory| !memory.is_empty());
    let tree = match memory {
        Some(_) => adapt(&made, None, memory).context("the payload cannot use the tree")?,
        None => made,
    };
    // The EFI application adds the memory.
    let summary = adapt_without_memory(&tree, None)
        .and_then(|tree| summary(&tree))
        .context("the payload cannot use the tree")?;
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
