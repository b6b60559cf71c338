//! A directory that commands run in.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::process;
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use super::{called, command};

/// The directory. Each command is a line of arguments and runs in this directory.
pub struct Scratch {
    dir: tempfile::TempDir,
    /// The path of the program that is run.
    program: &'static str,
}

impl Scratch {
    /// Creates an empty directory and installs the TF-A tools, for commands on FIPs and images.
    pub fn with_tf_a_tools(program: &'static str) -> Self {
        let workspace = Workspace::find().expect("the repository");
        let needs = [Need::Fiptool, Need::CertCreate, Need::Openssl];
        setup::ensure(&workspace, &needs).expect("the TF-A tools");
        Self::new(program)
    }

    /// Creates an empty directory without installing the TF-A tools.
    pub fn new(program: &'static str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir, program }
    }

    /// Creates a directory with a link, `published`, to the tables that TF-A has published.
    pub fn with_published_tables(program: &'static str) -> Self {
        let root = Workspace::find().expect("the repository").root;
        let scratch = Self::new(program);
        let tables = root.join("crates/report/tests/data/published");
        symlink(tables, scratch.path("published")).expect("linked");
        scratch
    }

    /// Creates a TF-A source tree that contains only what `publish` requires.
    pub fn write_tf_a(&self, name: &str) {
        let makefile = "VERSION_MAJOR := 2\nVERSION_MINOR := 15\n";
        self.write(&format!("{name}/Makefile"), makefile);
    }

    /// Returns the path of `name` in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file after creating its parent folders.
    pub fn write(&self, name: &str, data: &(impl AsRef<[u8]> + ?Sized)) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, data).expect("written");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the program with the arguments in `line`. Returns the exit code, stdout and stderr.
    pub fn called(&self, line: &str) -> (i32, String, String) {
        self.called_with(&line.split_whitespace().collect::<Vec<_>>())
    }

    fn called_with(&self, words: &[&str]) -> (i32, String, String) {
        called(command(self.program, words).current_dir(self.dir.path()))
    }

    /// Runs the program with the arguments in `line`, like [`Self::called`]. Returns the exit
    /// code and stderr.
    pub fn outcome(&self, line: &str) -> (i32, String) {
        let (code, _, stderr) = self.called(line);
        (code, stderr)
    }

    /// Runs the program with the arguments in each line. Checks the exit code and part of the
    /// output.
    pub fn assert_outcomes(&self, rows: &[(&str, i32, &str)]) {
        for (line, expected, part) in rows {
            let (code, stderr) = self.outcome(line);
            assert_eq!(code, *expected, "{line}: {stderr}");
            assert!(
                stderr.contains(part),
                "{line}: {part:?} is not in:\n{stderr}"
            );
        }
    }

    /// Runs the program with the arguments in `line`, which must succeed. Returns stderr.
    pub fn ours(&self, line: &str) -> String {
        let (code, stderr) = self.outcome(line);
        assert_eq!(code, 0, "{line}: {stderr}");
        stderr
    }

    /// Runs the program with the arguments in `line`, which it must reject without writing
    /// anything. Returns stderr.
    pub fn refused(&self, line: &str) -> String {
        self.refused_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Like [`Self::refused`], but the arguments may contain spaces.
    pub fn refused_words(&self, words: &[&str]) -> String {
        let before = self.files();
        let (code, _, stderr) = self.called_with(words);
        assert_eq!(code, 2, "{words:?}: {stderr}");
        assert!(self.files() == before, "{words:?}: something was written");
        stderr
    }

    /// Checks that `line` is rejected with a message that contains `words`.
    pub fn refuses(&self, line: &str, words: &str) {
        let stderr = self.refused(line);
        assert!(stderr.contains(words), "{line}: {stderr}instead of {words}");
    }

    /// Checks that each command line is rejected with a message that contains these parts, and that
    /// nothing is written.
    pub fn assert_refused(&self, rows: &[(&str, &[&str])]) {
        let mut wrong = String::new();
        for (line, parts) in rows {
            let stderr = self.refused(line);
            for part in parts.iter().filter(|part| !stderr.contains(**part)) {
                wrong += &format!("{line}: {part:?} is not in\n{stderr}\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    /// Runs another program.
    pub fn theirs(&self, line: &str) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).current_dir(self.dir.path());
        process::output(&mut command).expect(line);
    }

    /// Returns all files in the directory with their contents.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(self.dir.path())
    }
}

/// Returns all files below `dir` with their contents, sorted.
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
