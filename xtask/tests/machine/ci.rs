//! Runs the CI fragments for firmware projects as plain scripts, and parses the YAML files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use runner::setup::workspace::Workspace;

use crate::support::{CommandOutput, PROGRAM};

/// Returns the path of a file in `docs/ci`.
fn fragment(name: &str) -> PathBuf {
    let root = Workspace::find().expect("the repository").root;
    root.join("docs/ci").join(name)
}

/// Returns a command that runs a script in `docs/ci`.
fn script(name: &str) -> Command {
    // A test that hangs is killed after five minutes.
    let mut command = Command::new("timeout");
    command.arg("300").arg(fragment(name)).env("XTASK", PROGRAM);
    command
}

#[test]
fn a_regression_fails_the_script() {
    let dir = tempfile::tempdir().expect("a directory");
    let baseline = dir.path().join("baseline.log");
    let run = |update: &str, out: &str, variant: &str| {
        let mut command = script("regression.sh");
        command.arg(&baseline).current_dir(dir.path());
        command.args(["--smp", "2", "--args", "iterations=2 only=susp_deep_serial"]);
        command.args(["--variant", variant]);
        command.env("UPDATE", update).env("OUT", out);
        CommandOutput::of(&mut command)
    };
    run("", "none", "coherency=hw").ends(2, "UPDATE=1 stores one");
    let kept = run("1", "kept", "coherency=hw");
    assert_eq!((kept.code, baseline.is_file()), (0, true), "{}", kept.err);
    run("", "same", "coherency=hw").ends(0, "");
    // Software cache maintenance makes the firmware slower.
    run("", "slower", "coherency=sw").ends(1, "regression");
    // A baseline must not be compared with itself or with the results of an earlier run.
    let kept = fs::read(&baseline).expect("kept");
    let own = dir.path().join("own/run.log");
    fs::create_dir(own.parent().expect("a folder")).expect("made");
    symlink(&baseline, &own).expect("linked");
    run("", "own", "coherency=sw").ends(2, "set OUT to another");
    let mut command = script("regression.sh");
    command.arg(&baseline).arg("--help").current_dir(dir.path());
    command.env("UPDATE", "1").env("OUT", "slower");
    CommandOutput::of(&mut command).ends(2, "the run wrote no log");
    assert!(fs::read(&baseline).expect("kept") == kept);
    assert!(!dir.path().join("slower/junit.xml").exists());
    run("", "slower", "coherency=sw").ends(1, "");
    for (file, text) in [
        ("slower/comparison.md", "worse"),
        ("slower/junit.xml", "<failure"),
        ("same/run.log", "psci-bench: PASS"),
    ] {
        let content = fs::read_to_string(dir.path().join(file)).expect(file);
        assert!(content.contains(text), "{file}");
    }
}

#[test]
fn the_fragments_call_the_scripts() {
    let root = Workspace::find().expect("the repository").root;
    for (path, command) in [
        (".github/workflows/ci.yml", ".ci/run\n"),
        (".gitlab-ci.yml", ".ci/run\n"),
        ("docs/ci/github.yml", "psci-bench/docs/ci/regression.sh "),
        ("docs/ci/gitlab.yml", "psci-bench/docs/ci/regression.sh "),
        ("docs/ci/release.github.yml", ".ci/release "),
        ("docs/ci/release.gitlab.yml", ".ci/release "),
    ] {
        let text = assert_yaml(&root.join(path));
        let has_line = ["- ", "- run: "]
            .iter()
            .any(|start| text.contains(&format!("{start}{command}")));
        assert!(has_line, "{path}");
    }
    let mut check = Command::new("sh");
    CommandOutput::of(check.arg("-n").arg(fragment("regression.sh"))).ends(0, "");
    CommandOutput::of(&mut script("regression.sh")).ends(2, "usage: ");
}

#[test]
fn issue_forms_are_yaml() {
    let root = Workspace::find().expect("the repository").root;
    let folder = fs::read_dir(root.join(".github/ISSUE_TEMPLATE")).expect("the forms");
    for form in folder {
        assert_yaml(&form.expect("a form").path());
    }
}

/// Checks that a file contains a YAML mapping, and returns its text.
fn assert_yaml(path: &Path) -> String {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).expect(&name);
    let yaml: serde_json::Value = serde_saphyr::from_str(&text).expect(&name);
    assert!(yaml.is_object(), "{name}");
    text
}
