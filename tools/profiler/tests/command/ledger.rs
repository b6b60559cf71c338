//! The part of `cargo xtask ledger` that needs no firmware: finding the commits in a checkout.

use std::process::Command;

use test_support::scratch::Scratch;
use test_support::{called, command};

use crate::PROGRAM;

/// Runs Git in the checkout called `name`.
fn git(scratch: &Scratch, name: &str, words: &[&str]) {
    let mut git = Command::new("git");
    let user = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git.args(user).args(["-C", name]).args(words);
    let (code, _, stderr) = called(git.current_dir(scratch.path("")));
    assert_eq!(code, 0, "{words:?}: {stderr}");
}

/// Commits a change to the checkout called `name`.
fn commit(scratch: &Scratch, name: &str, title: &str) {
    scratch.write(&format!("{name}/file"), title);
    git(scratch, name, &["add", "file"]);
    git(scratch, name, &["commit", "--quiet", "--message", title]);
}

/// Creates a checkout called `name` with two commits that are not TF-A source trees.
fn make_checkout(scratch: &Scratch, name: &str, title: &str) {
    scratch.write(&format!("{name}/file"), "");
    git(scratch, name, &["init", "--quiet"]);
    commit(scratch, name, "first");
    git(scratch, name, &["tag", "old"]);
    commit(scratch, name, title);
}

#[test]
fn releases_are_the_tagged_commits_without_candidates() {
    let scratch = Scratch::new(PROGRAM);
    make_checkout(&scratch, "own", "second");
    let ledger = || {
        let words = ["ledger", "--tf-a", "own", "old..HEAD", "--releases"];
        called(command(PROGRAM, &words).current_dir(scratch.path("")))
    };
    let (code, _, stderr) = ledger();
    assert_eq!(code, 2, "{stderr}");
    let refused = "--releases: the range contains no tag of a release, such as v2.12.0";
    assert!(stderr.contains(refused), "{stderr}");
    git(&scratch, "own", &["tag", "v1.0"]);
    git(&scratch, "own", &["tag", "-a", "v1.0.0", "-m", "a release"]);
    commit(&scratch, "own", "third");
    git(&scratch, "own", &["tag", "v1.1-rc0"]);
    commit(&scratch, "own", "fourth");
    let (code, out, stderr) = ledger();
    assert_eq!(code, 3, "{stderr}");
    for part in ["1/3 ", "2/3 v1.0.0 second", "3/3 "] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(out.contains("v1.0.0") && !out.contains("third"), "{out}");
}

#[test]
fn commits_are_those_of_the_named_checkout_and_their_titles_plain() {
    let scratch = Scratch::new(PROGRAM);
    make_checkout(&scratch, "own", "red \u{1b}[31m title");
    make_checkout(&scratch, "other", "of another checkout");
    scratch.write("own/file", "not committed");
    let ledger = || {
        let words = ["ledger", "--tf-a", "own", "old..HEAD"];
        let mut ledger = command(PROGRAM, &words);
        ledger.current_dir(scratch.path(""));
        // GIT_DIR is set like this if another repository's hook runs the command.
        ledger.env("GIT_DIR", scratch.path("other/.git"));
        ledger.env("GIT_WORK_TREE", scratch.path("other"));
        called(&mut ledger)
    };
    let (code, out, stderr) = ledger();
    assert_eq!(code, 3, "{stderr}");
    for part in ["red .[31m title", "skipped: ", "not a TF-A source tree"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!format!("{out}{stderr}").contains('\u{1b}'), "{stderr}");
    assert!(
        stderr.contains("--tf-a own: uncommitted changes are not measured"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the first commit cannot be measured"),
        "{stderr}"
    );
}
