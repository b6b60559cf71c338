//! The engines, and the results in their logs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use runner::setup::workspace::Workspace;
use runner::setup::{self, Lava, Need};
use serde_json::Value;

use crate::support::{called, xtask};

/// The engines, which are set up only once.
pub struct Tools {
    /// The LAVA dispatcher.
    pub lava: Lava,
    /// The labgrid programs.
    pub labgrid: PathBuf,
    /// The repository.
    pub root: PathBuf,
}

pub fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let workspace = Workspace::find().expect("the repository");
        let needs = [
            Need::Qemu,
            Need::PythonVenv,
            Need::File,
            Need::Lava,
            Need::Labgrid,
        ];
        setup::ensure(&workspace, &needs).expect("the engines");
        Tools {
            lava: setup::lava(&workspace).expect("LAVA is installed"),
            labgrid: Need::Labgrid
                .programs(&workspace)
                .expect("labgrid is installed"),
            root: workspace.root,
        }
    })
}

impl Tools {
    /// Returns a command that runs `docs/ci/NAME` with these engines.
    pub fn script(&self, name: &str) -> Command {
        // A test that hangs is killed after five minutes.
        let mut command = Command::new("timeout");
        command.arg("300").arg(self.root.join("docs/ci").join(name));
        command.env("LAVA_RUN", self.lava.run());
        command.env("PYTEST", self.labgrid.join("pytest"));
        command.env("XTASK", env!("CARGO_BIN_EXE_xtask"));
        command
    }
}

/// The output of a finished command.
pub struct Output {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Output {
    /// Checks that the exit code is `code` and that stderr contains `words`.
    #[track_caller]
    pub fn ends(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.contains(words), "{words}: {}", self.err);
        self
    }
}

/// Runs a command until it ends.
pub fn output(command: &mut Command) -> Output {
    let (code, out, err) = called(command);
    Output { code, out, err }
}

/// Writes one or more jobs to `dir`.
pub fn lab(engine: &str, dir: &Path, words: &str) {
    let mut command = xtask(&["lab", engine]);
    command.args(words.split_whitespace()).arg("-o").arg(dir);
    let written = output(&mut command);
    assert_eq!(written.code, 0, "{words}: {}", written.err);
}

/// The suite, case, outcome and number of a result in the LAVA log.
#[derive(Clone, Debug, PartialEq)]
pub struct Result {
    pub suite: String,
    pub case: String,
    pub outcome: String,
    pub measurement: Option<f64>,
}

/// Returns all results except those from LAVA's own steps, in order.
pub fn results(log: &Path) -> Vec<Result> {
    let text = fs::read_to_string(log).expect("a log");
    let lines = text
        .lines()
        .filter(|line| line.contains("\"lvl\": \"results\""));
    let all = lines.map(|line| {
        // A LAVA log is YAML, which uses `!` to mark a string that looks like a number. JSON has no
        // such tag.
        let entry: Value = serde_json::from_str(&line.replace("! \"", "\"")).expect(line);
        let text = |key: &str| entry["msg"][key].as_str().map(str::to_owned);
        Result {
            suite: text("definition").expect(line),
            case: text("case").expect(line),
            outcome: text("result").expect(line),
            measurement: text("measurement").map(|number| number.parse().expect(line)),
        }
    });
    all.filter(|result| result.suite != "lava").collect()
}
