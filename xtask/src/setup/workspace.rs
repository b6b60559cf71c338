//! The repository, and this tool's part of `target/`.
//!
//! Everything that is fetched or built is put together under a name that ends in `.partial`,
//! and renamed when complete. So a final name never has only a part, and a process replaces
//! the `.partial` folder of one that was killed.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The repository and its build directory.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The repository's root.
    pub root: PathBuf,
    /// Cargo's target directory.
    pub target: PathBuf,
}

impl Workspace {
    /// Finds both by the package's directory: the one that cargo passes at run time, else
    /// that of the build.
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
                format!("the psci-bench repository is not at {built}: run this by `cargo xtask`")
            })?;
        let root = root.to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) if !dir.is_empty() => env::current_dir()?.join(dir),
            _ => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// Refuses a place at which TF-A's makefiles do not build.
    pub(crate) fn check_for_make(&self) -> Result<()> {
        refuse_blanks(&self.root)?;
        refuse_blanks(&self.target)
    }

    /// Returns the folder that this tool keeps between runs.
    pub fn state(&self) -> PathBuf {
        self.target.join("psci-bench")
    }

    /// Returns the folder of a board.
    pub fn board(&self, name: &str) -> PathBuf {
        self.root.join("platforms").join(name)
    }

    /// Returns `path` as a reader in the repository's root would write it.
    pub fn short<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

/// Refuses a path that splits in two in a makefile.
pub(crate) fn refuse_blanks(path: &Path) -> Result<()> {
    if path.to_string_lossy().contains(char::is_whitespace) {
        bail!(
            "{}: TF-A's makefiles build nothing below a path with a space: move the folder, or, \
             for target/ alone, set CARGO_TARGET_DIR",
            path.display()
        );
    }
    Ok(())
}

/// Makes the directory `place` by `make`, unless it is there. `make` is given
/// an empty directory to fill; other processes that want the same one wait.
pub fn once(place: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if place.is_dir() {
        return Ok(());
    }
    let beside = |ending: &str| place.with_added_extension(ending);
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    let lock = beside("lock");
    let lock = File::create(&lock).with_context(|| lock.display().to_string())?;
    lock.lock().context("cannot lock the build directory")?;
    if place.is_dir() {
        return Ok(());
    }
    let partial = beside("partial");
    let at = || partial.display().to_string();
    if partial.exists() {
        fs::remove_dir_all(&partial).with_context(at)?;
    }
    fs::create_dir(&partial).with_context(at)?;
    let made = make(&partial);
    if made.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_dir_all(&partial);
    }
    made?;
    fs::rename(&partial, place).with_context(at)
}

/// Makes what has the next free number in `folder`, by `make`, which must fail where there
/// is something already. Returns its path, too.
pub(crate) fn next_free<T>(
    folder: &Path,
    ending: &str,
    make: impl Fn(PathBuf) -> io::Result<T>,
) -> Result<(PathBuf, T)> {
    let named = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(named)?;
    let mut number = 1;
    loop {
        let path = folder.join(format!("{number}{ending}"));
        match make(path.clone()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return Ok((path, made.with_context(named)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_half_made_is_left() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let place = dir.path().join("a").join("thing");
        // The `.partial` folder of a killed process is replaced.
        fs::create_dir_all(place.with_extension("partial").join("old")).expect("made");
        let failed = once(&place, |partial| {
            fs::write(partial.join("half"), "x")?;
            bail!("no network")
        });
        assert!(failed.is_err());
        assert!(!place.exists());
        once(&place, |partial| {
            assert_eq!(fs::read_dir(partial)?.count(), 0);
            Ok(fs::write(partial.join("whole"), "x")?)
        })
        .expect("made");
        assert!(place.join("whole").is_file());
        once(&place, |_| bail!("made twice")).expect("there already");
    }
}
