//! The files that a soak keeps: logs of runs, and a summary that grows with each run.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::places::next_free;

use crate::qemu::run_result::RunResult;

const SUMMARY: &str = "summary.txt";

/// The directory for the logs, and the summary in it.
#[derive(Debug)]
pub struct Keep {
    dir: PathBuf,
    summary: File,
    /// The number of logs.
    pub logs: u64,
}

impl Keep {
    /// Rejects a directory that is not empty.
    pub fn check(dir: &Path) -> Result<()> {
        let named = || format!("--keep {}", dir.display());
        if dir.exists() && fs::read_dir(dir).with_context(named)?.next().is_some() {
            bail!(
                "{}: this directory is not empty; specify a new one",
                named()
            );
        }
        Ok(())
    }

    /// Opens `dir`, creating it if it does not exist.
    pub fn at(dir: &Path) -> Result<Self> {
        Self::check(dir)?;
        fs::create_dir_all(dir).with_context(|| format!("--keep {}", dir.display()))?;
        Self::begin(dir.to_path_buf())
    }

    /// Creates a directory in `parent`, named after the next unused number.
    pub fn in_next(parent: &Path) -> Result<Self> {
        Self::begin(next_free(parent, "", fs::create_dir)?.0)
    }

    fn begin(dir: PathBuf) -> Result<Self> {
        let path = dir.join(SUMMARY);
        let summary = File::create(&path).with_context(|| path.display().to_string())?;
        let logs = 0;
        Ok(Self { dir, summary, logs })
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Adds `text` to the summary.
    pub fn note(&mut self, text: &str) -> Result<()> {
        let written = writeln!(self.summary, "{text}");
        written.with_context(|| self.dir.join(SUMMARY).display().to_string())
    }

    /// Keeps the log of run `number`.
    pub fn log(&mut self, number: u64, result: &RunResult) -> Result<()> {
        let word = result.word().replace(' ', "-");
        let path = self.dir.join(format!("run-{number:04}-{word}.log"));
        fs::write(&path, &result.log).with_context(|| path.display().to_string())?;
        self.logs += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soaks_are_not_mixed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let parent = dir.path().join("soak");
        let first = Keep::in_next(&parent).expect("made");
        let second = Keep::in_next(&parent).expect("made");
        assert_eq!(first.dir(), parent.join("1"));
        assert_eq!(second.dir(), parent.join("2"));
        let fresh = dir.path().join("a").join("b");
        Keep::at(&fresh).expect("made");
        assert!(Keep::at(&fresh.join(SUMMARY)).is_err());
    }
}
