//! Runs the script that compares a fork of TF-A with the commit that it is based on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::CommandOutput;

/// Returns the path of a file in `ci`.
fn fragment(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ci").join(name)
}

/// Returns a command that runs a script in `ci`.
fn script(name: &str) -> Command {
    // A test that hangs is killed after five minutes.
    let mut command = Command::new("timeout");
    command.arg("300").arg(fragment(name));
    command
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
        CommandOutput::of(&mut command)
            .ends(0, "")
            .out
            .trim()
            .to_owned()
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
        CommandOutput::of(&mut command)
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
fn the_fragments_call_the_script() {
    for name in ["tf-a-fork.github.yml", "tf-a-fork.gitlab.yml"] {
        let text = fs::read_to_string(fragment(name)).expect(name);
        let command = "psci-bench/tools/profiler/ci/tf-a-fork.sh ";
        assert!(text.contains(command), "{name}");
    }
    let mut check = Command::new("sh");
    CommandOutput::of(check.arg("-n").arg(fragment("tf-a-fork.sh"))).ends(0, "");
    CommandOutput::of(&mut script("tf-a-fork.sh")).ends(2, "usage: ");
}
