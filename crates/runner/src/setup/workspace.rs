//! The repository, and this tool's part of `target/`.
//!
//! Everything that is fetched or built is assembled under a name that ends in `.partial`, and
//! renamed when complete. A folder with its final name is therefore always complete, and a
//! `.partial` folder left behind by a killed process is replaced. A Python environment contains its
//! own path and cannot be renamed, so the file `ready` marks a complete one.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The repository and its build directory.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder with the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// The directory that cargo builds in, normally `target` below `root`.
    pub target: PathBuf,
}

impl Workspace {
    /// Finds the repository and the build directory, starting from the package directory, which
    /// cargo passes at run time, or from the directory that the package was built in.
    pub fn find() -> Result<Self> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR"));
        let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let starts = [package.as_deref(), Some(built)].into_iter().flatten();
        let is_root = |dir: &&Path| dir.join("platforms").is_dir() && dir.join("xtask").is_dir();
        let root = starts
            .flat_map(Path::ancestors)
            .find(is_root)
            .with_context(|| {
                let built = built.display();
                format!("the psci-bench repository is not at {built}; run this as `cargo xtask`")
            })?
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) if !dir.is_empty() => env::current_dir()?.join(dir),
            _ => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// Rejects a workspace in a location where the TF-A makefiles do not work.
    pub fn check_for_make(&self) -> Result<()> {
        refuse_blanks(&self.root, "move the checkout")?;
        refuse_blanks(&self.target, "set CARGO_TARGET_DIR to another folder")
    }

    /// Returns the folder that this tool keeps between runs.
    pub fn state(&self) -> PathBuf {
        self.target.join("psci-bench")
    }

    /// Returns the folder for a board.
    pub fn board(&self, name: &str) -> PathBuf {
        self.root.join("platforms").join(name)
    }

    /// Returns `path` relative to the repository root if it is inside the repository.
    pub fn short<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

/// Rejects a path that a makefile would split at a space. `advice` tells the user what to do.
pub(crate) fn refuse_blanks(path: &Path, advice: &str) -> Result<()> {
    if path.to_string_lossy().contains(char::is_whitespace) {
        bail!(
            "{}: TF-A's makefiles cannot build below a path with a space; {advice}",
            path.display()
        );
    }
    Ok(())
}
