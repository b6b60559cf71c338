//! A directory in which commands run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::setup::workspace::Workspace;
use xtask::setup::{self, Need, process};

use super::{outcome, xtask};

/// The directory. Commands are lines of words, and run in it.
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    /// An empty one.
    pub fn new() -> Self {
        let workspace = Workspace::find().expect("the repository");
        let needs = [Need::Fiptool, Need::CertCreate, Need::Openssl];
        setup::ensure(&workspace, &needs).expect("TF-A's tools");
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, data: &[u8]) {
        fs::write(self.path(name), data).expect("written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Exit code and stderr of `cargo xtask` with the words of `line`, in which `~` stands
    /// for a blank.
    pub fn outcome(&self, line: &str) -> (i32, String) {
        let words = line.split_whitespace().map(|word| word.replace('~', " "));
        outcome(xtask(&[]).args(words).current_dir(self.dir.path()))
    }

    /// stderr of `cargo xtask` with the words of `line`, which has to do it.
    pub fn ours(&self, line: &str) -> String {
        let (code, said) = self.outcome(line);
        assert_eq!(code, 0, "{line}: {said}");
        said
    }

    /// stderr of `cargo xtask` with the words of `line`, which it must refuse
    /// without anything being written.
    pub fn refused(&self, line: &str) -> String {
        let before = self.files();
        let (code, said) = self.outcome(line);
        assert_eq!(code, 2, "{line}: {said}");
        assert!(!said.contains("panicked"), "{line}: {said}");
        assert!(self.files() == before, "{line} has written something");
        said
    }

    /// Refuses `line`, and says `words`.
    pub fn refuses(&self, line: &str, words: &str) {
        let said = self.refused(line);
        assert!(said.contains(words), "{line}: {said}instead of {words}");
    }

    /// Runs another program.
    pub fn theirs(&self, line: &str) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).current_dir(self.dir.path());
        process::output(&mut command).expect(line);
    }

    /// All files and their content.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(self.dir.path())
    }
}

/// All files below `dir` and their content, in order.
pub fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let data = fs::read(&path).expect("a file");
            all.push((path, data));
        }
    }
    all.sort();
    all
}
