//! Reads ACPI tables from files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context as _, Result, anyhow, bail};
use device_tree::acpi::{Conversion, Tables};
use hardware::board::FormatError;
use host::progress::say;
use host::read_file;
use regex::{Captures, Regex};

use super::acpi_dump::{dump_text, read_dump};

/// The maximum size of a file, in bytes.
const FILE_MAX: usize = 16 << 20;
/// The subfolder of Linux's ACPI table folder for dynamically loaded tables.
const LATER: &str = "dynamic";

/// Files that contain one table each, or dumps of tables by `acpidump`. They have been read; the
/// tables are checked only by [`Self::convert`].
pub struct AcpiFiles {
    /// The paths of the files.
    pub paths: Vec<PathBuf>,
    tables: Vec<NamedTable>,
}

/// A table's bytes, and the name of its file, for messages.
struct NamedTable {
    name: String,
    bytes: Vec<u8>,
}

impl AcpiFiles {
    /// Reads the files at `paths`, and the files in the folders at `paths`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, if a dump is damaged, or if a folder is empty.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            if path.is_dir() {
                files.extend(tables_in(path)?);
            } else {
                files.push(path.clone());
            }
        }
        let mut tables = Vec::new();
        for path in &files {
            tables.extend(read_tables(path)?);
        }
        Ok(Self {
            paths: files,
            tables,
        })
    }

    /// Converts the tables to a device tree, and prints notes about missing and ignored parts.
    ///
    /// # Errors
    /// Returns an error with the name of the file if a table is malformed, or if one is missing.
    pub fn convert(
        &self,
        convert: impl FnOnce(&Tables<'_>) -> Result<Conversion, FormatError>,
    ) -> Result<Vec<u8>> {
        let tables: Vec<&[u8]> = self.tables.iter().map(|table| &*table.bytes).collect();
        let conversion = Tables::of_files(&tables)
            .and_then(|tables| convert(&tables))
            .map_err(|error| anyhow!(self.with_names(error.to_string())))?;
        for note in conversion.notes {
            say(&format!("note: {}", self.with_names(note)));
        }
        Ok(conversion.tree)
    }

    /// Adds file names to `message`, which refers to files by number.
    fn with_names(&self, message: String) -> String {
        static FILE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"file (\d+)").expect("a pattern"));
        let name = |captures: &Captures<'_>| {
            let number = captures[1].parse::<usize>().ok();
            let table = number.and_then(|number| self.tables.get(number.checked_sub(1)?));
            table.map_or(captures[0].to_owned(), |table| table.name.clone())
        };
        FILE.replace_all(&message, name).into_owned()
    }
}

/// Reads the table or the dump of tables at `path`.
fn read_tables(path: &Path) -> Result<Vec<NamedTable>> {
    let name = path.display().to_string();
    let bytes = read_file::read("", path, FILE_MAX)?;
    let Some(text) = dump_text(&bytes) else {
        return Ok(vec![NamedTable { name, bytes }]);
    };
    let tables = read_dump(&text).map_err(|error| anyhow!("{name}:{error}"))?;
    let named = tables.into_iter().map(|table| NamedTable {
        name: format!("{name}:{}", table.line),
        bytes: table.bytes,
    });
    Ok(named.collect())
}

/// Returns the tables in `folder` and in its subfolder for dynamically loaded tables, sorted by
/// name.
fn tables_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut tables = files_in(folder)?;
    let later = folder.join(LATER);
    if later.is_dir() {
        tables.extend(files_in(&later)?);
    }
    if tables.is_empty() {
        bail!("{}: the folder contains no files", folder.display());
    }
    tables.sort();
    Ok(tables)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = || folder.display().to_string();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(name)? {
        let path = entry.with_context(name)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}
