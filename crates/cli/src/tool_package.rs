//! The packages that have verbs of `cargo xtask`.
//!
//! Such a package lists its verbs in `[package.metadata.xtask]` of its Cargo.toml. The help of
//! `cargo xtask VERB` is in the file `help/VERB.txt` in the package's folder, and that of
//! `cargo xtask VERB WORD` in `help/VERB-WORD.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use itertools::Itertools as _;
use serde::Deserialize;

/// The folders that contain packages.
const FOLDERS: [&str; 2] = ["crates", "tools"];

/// A package that has verbs of `cargo xtask`.
#[derive(Clone, Debug)]
pub struct ToolPackage {
    /// The package name.
    pub name: String,
    /// The name of its program.
    pub program: String,
    /// The folder that contains its Cargo.toml.
    pub folder: PathBuf,
    /// Its verbs, in the order in which they are listed.
    pub verbs: Vec<ToolVerb>,
    /// The optimization level at which `cargo xtask` builds the package, if it is slow without.
    pub opt_level: Option<u8>,
}

/// A verb of `cargo xtask` that another package has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolVerb {
    /// The word on the command line.
    pub name: String,
    /// What the verb does, in one line.
    pub summary: String,
}

/// The parts of a Cargo.toml that matter here.
#[derive(Deserialize)]
struct Manifest {
    package: Option<Package>,
    #[serde(default)]
    bin: Vec<Binary>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    xtask: Option<XtaskMetadata>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct XtaskMetadata {
    verbs: Vec<ToolVerb>,
    opt_level: Option<u8>,
}

#[derive(Deserialize)]
struct Binary {
    name: String,
}

impl ToolPackage {
    /// Reads `folder/Cargo.toml`. Returns None if the package has no verbs of `cargo xtask`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or its list of verbs is malformed.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join("Cargo.toml");
        let place = || path.display().to_string();
        let text = fs::read_to_string(&path).with_context(place)?;
        let manifest: Manifest = toml::from_str(&text).with_context(place)?;
        let Some(package) = manifest.package else {
            return Ok(None);
        };
        let metadata = package.metadata.and_then(|metadata| metadata.xtask);
        Ok(metadata.map(|metadata| Self {
            program: match manifest.bin.first() {
                Some(binary) => binary.name.clone(),
                None => package.name.clone(),
            },
            name: package.name,
            folder: folder.to_path_buf(),
            verbs: metadata.verbs,
            opt_level: metadata.opt_level,
        }))
    }

    /// Finds all such packages in the repository at `root`, sorted by folder.
    ///
    /// # Errors
    /// Returns an error if a Cargo.toml cannot be read.
    pub fn find_all(root: &Path) -> Result<Vec<Self>> {
        let mut packages = Vec::new();
        for folder in FOLDERS.map(|folder| root.join(folder)) {
            if !folder.is_dir() {
                continue;
            }
            let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
            let inner = entries.filter_map(|entry| Some(entry.ok()?.path()));
            for package in inner
                .filter(|inner| inner.join("Cargo.toml").is_file())
                .sorted()
            {
                packages.extend(Self::read(&package)?);
            }
        }
        Ok(packages)
    }

    /// Returns the path of the help of the verb whose name and inner verbs are `words`.
    pub fn help_file(&self, words: &[&str]) -> PathBuf {
        self.folder
            .join("help")
            .join(format!("{}.txt", words.join("-")))
    }
}
