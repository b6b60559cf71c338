//! Runs the CI fragments for firmware projects as plain scripts.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use runner::setup::workspace::Workspace;

use crate::support::{PROGRAM, called};

/// The output of a finished command.
struct Output {
    code: i32,
    out: String,
    err: String,
}

impl Output {
    /// Checks that the exit code is `code` and that stderr contains `words`.
    #[track_caller]
    fn ends(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.contains(words), "{words}: {}", self.err);
        self
    }
}

/// Runs a command until it ends.
fn output(command: &mut Command) -> Output {
    let (code, out, err) = called(command);
    Output { code, out, err }
}

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
        output(&mut command)
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
    output(&mut command).ends(2, "the run wrote no log");
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

/// A host tool that appends each call to a file (for `qemu`, along with the TF-A source that it
/// would build), and writes the output file named in the call.
const STUB: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> CALLS
case $1 in
qemu) cat "$6/file" >> CALLS; echo log > "${10}"; exit "$QEMU" ;;
compare) code=$COMPARE ;;
ledger) code=$LEDGER ;;
esac
while [ "$1" != -o ]; do shift; done
echo report > "$2"
exit "${code:-0}"
"#;

/// Creates a repository in which `upstream` has moved on since `change` branched off. Returns the
/// common ancestor and the head of `change`.
fn create_fork(fork: &Path) -> [String; 2] {
    fs::create_dir(fork).expect("made");
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        command.arg("-C").arg(fork).args(words);
        output(&mut command).ends(0, "").out.trim().to_owned()
    };
    git(&["init", "--quiet", "--initial-branch=change"]);
    let commit = |title: &str| {
        fs::write(fork.join("file"), title).expect("written");
        git(&["add", "file"]);
        git(&["commit", "--quiet", "--message", title]);
        git(&["rev-parse", "HEAD"])
    };
    let base = commit("base");
    git(&["branch", "upstream"]);
    let head = commit("head");
    git(&["switch", "--quiet", "upstream"]);
    commit("upstream");
    git(&["switch", "--quiet", "change"]);
    [base, head]
}

/// A stub stands in for the host tool, so this tests only the script.
#[test]
fn a_fork_is_compared_with_the_commit_that_it_is_based_on() {
    let dir = tempfile::tempdir().expect("a directory");
    let fork = dir.path().join("fork");
    let [base, head] = create_fork(&fork);
    let stub = dir.path().join("stub");
    let calls = dir.path().join("calls");
    let text = STUB.replace("CALLS", &calls.display().to_string());
    fs::write(&stub, text).expect("written");
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("executable");
    let run = |codes: [&str; 3], branch: &str| {
        let mut command = script("tf-a-fork.sh");
        command
            .args(["fork", branch, "--smp", "2"])
            .current_dir(dir.path());
        command.env("XTASK", &stub).env("OUT", "results");
        command.envs(["QEMU", "COMPARE", "LEDGER"].into_iter().zip(codes));
        output(&mut command)
    };
    run(["0", "0", "0"], "upstream").ends(0, "");
    let notes = fs::read_to_string(&calls).expect("notes");
    let range = format!("ledger {base}..{head} ");
    for board in ["qemu", "qemu-sbsa"] {
        for part in [
            &*range,
            &format!("{board}/base.log --smp 2\nbase"),
            &format!("{board}/new.log --smp 2\nhead"),
            &format!("{board}/verdicts.json --verdicts --smp 2\n"),
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
        for name in ["comparison", "ledger", "verdicts"] {
            for format in ["html", "json"] {
                let file = format!("results/{board}/{name}.{format}");
                assert!(dir.path().join(&file).is_file(), "{file}");
            }
        }
    }
    run(["0", "1", "0"], "upstream").ends(1, "");
    run(["0", "1", "3"], "upstream").ends(3, "");
    run(["1", "0", "0"], "upstream").ends(1, "no figures are compared");
    let results = dir.path().join("results/qemu");
    assert!(!results.join("ledger.json").exists());
    assert!(results.join("verdicts.json").is_file());
    run(["0", "0", "0"], "change").ends(2, "nothing to compare");
    run(["0", "0", "0"], "nosuch").ends(2, "no commit in common");
}

#[test]
fn the_fragments_call_the_scripts() {
    for (name, command) in [
        ("github.yml", "psci-bench/docs/ci/regression.sh "),
        ("gitlab.yml", "psci-bench/docs/ci/regression.sh "),
        ("tf-a-fork.github.yml", "psci-bench/docs/ci/tf-a-fork.sh "),
        ("tf-a-fork.gitlab.yml", "psci-bench/docs/ci/tf-a-fork.sh "),
        ("release.github.yml", ".ci/release "),
        ("release.gitlab.yml", ".ci/release "),
    ] {
        let text = fs::read_to_string(fragment(name)).expect(name);
        let yaml: serde_json::Value = serde_saphyr::from_str(&text).expect(name);
        assert!(yaml.is_object());
        assert!(text.contains(command), "{name}");
    }
    for name in ["regression.sh", "tf-a-fork.sh"] {
        let mut check = Command::new("sh");
        output(check.arg("-n").arg(fragment(name))).ends(0, "");
        output(&mut script(name)).ends(2, "usage: ");
    }
}
