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

/// The maximum size of a table, in bytes.
const TABLE_MAX: usize = 16 << 20;
/// The subfolder of Linux's ACPI table folder for dynamically loaded tables.
const LATER: &str = "dynamic";

/// Files that contain one table each. They have been read; their contents are checked only by
/// [`Self::convert`].
pub struct AcpiFiles {
    /// The paths of the files.
    pub paths: Vec<PathBuf>,
    contents: Vec<Vec<u8>>,
}

impl AcpiFiles {
    /// Reads the files at `paths`, and the files in the folders at `paths`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or if a folder is empty.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            if path.is_dir() {
                files.extend(tables_in(path)?);
            } else {
                files.push(path.clone());
            }
        }
        let read = |path: &PathBuf| read_file::read("", path, TABLE_MAX);
        Ok(Self {
            contents: files.iter().map(read).collect::<Result<_>>()?,
            paths: files,
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
        let tables: Vec<&[u8]> = self.contents.iter().map(Vec::as_slice).collect();
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
            let path = number.and_then(|number| self.paths.get(number.checked_sub(1)?));
            path.map_or(captures[0].to_owned(), |path| path.display().to_string())
        };
        FILE.replace_all(&message, name).into_owned()
    }
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
