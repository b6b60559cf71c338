//! The engines, and the results in their logs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use host::process;
use runner::setup::need::{PythonEnvironment, Source};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use serde_json::Value;
use test_support::{CommandOutput, command};

use crate::lava::Lava;

/// The path of the program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_psci-labs");

/// labgrid, which runs the generated environments, and pytest for its plugin.
const LABGRID: PythonEnvironment = PythonEnvironment {
    name: "labgrid",
    version: "26.0.1",
    packages: &["labgrid", "pytest==9.2.0"],
};

/// The engines, which are set up only once.
pub struct Tools {
    /// The LAVA dispatcher.
    pub lava: Lava,
    /// The labgrid programs.
    pub labgrid: PathBuf,
}

pub fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let workspace = Workspace::find().expect("the repository");
        let labgrid = Need::Tool(Source::Python(LABGRID));
        let needs = [
            Need::Qemu,
            Need::PythonVenv,
            Need::Tool(Source::Debian("file", "file")),
            labgrid,
        ];
        setup::ensure(&workspace, &needs).expect("labgrid");
        Tools {
            lava: Lava::install(&workspace).expect("LAVA"),
            labgrid: labgrid.programs(&workspace).expect("labgrid is installed"),
        }
    })
}

impl Tools {
    /// Returns a command that runs `lab.sh` with these engines.
    pub fn script(&self) -> Command {
        let mut command = script();
        command.env("LAVA_RUN", self.lava.run());
        command.env("PYTEST", self.labgrid.join("pytest"));
        command
    }
}

/// Returns a command that runs `lab.sh`.
pub fn script() -> Command {
    // A test that hangs is killed after five minutes.
    let mut command = Command::new("timeout");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab.sh");
    command.arg("300").arg(script).env("XTASK", psci_report());
    command
}

/// Builds `psci-report` and returns its path.
pub fn psci_report() -> &'static Path {
    static PSCI_REPORT: OnceLock<PathBuf> = OnceLock::new();
    PSCI_REPORT.get_or_init(|| {
        let workspace = Workspace::find().expect("the repository");
        let mut build = process::cargo();
        build.args(["build", "--quiet", "--package", "report"]);
        build.arg("--target-dir").arg(&workspace.target);
        process::output(build.current_dir(&workspace.root)).expect("psci-report is built");
        workspace.target.join("debug/psci-report")
    })
}

/// Writes one or more jobs to `dir`.
pub fn lab(engine: &str, dir: &Path, words: &str) {
    let mut lab = command(PROGRAM, &["lab", engine]);
    lab.args(words.split_whitespace()).arg("-o").arg(dir);
    let written = CommandOutput::of(&mut lab);
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
