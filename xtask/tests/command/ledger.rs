//! The part of `cargo xtask ledger` that needs no firmware: finding the commits in a checkout.

use std::process::Command;

use crate::support::called;
use crate::support::scratch::Scratch;
use crate::support::xtask;

/// Creates a checkout called `name` with two commits that are not TF-A source trees.
fn make_checkout(scratch: &Scratch, name: &str, title: &str) {
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        let user = ["-c", "user.name=a", "-c", "user.email=a@b"];
        git.args(user).args(["-C", name]).args(words);
        let (code, _, said) = called(git.current_dir(scratch.path("")));
        assert_eq!(code, 0, "{words:?}: {said}");
    };
    scratch.write(&format!("{name}/file"), "first");
    git(&["init", "--quiet"]);
    git(&["add", "file"]);
    git(&["commit", "--quiet", "--message", "first"]);
    git(&["tag", "old"]);
    scratch.write(&format!("{name}/file"), "second");
    git(&["commit", "--quiet", "--all", "--message", title]);
}

#[test]
fn commits_are_those_of_the_named_checkout_and_their_titles_plain() {
    let scratch = Scratch::empty();
    make_checkout(&scratch, "own", "red \u{1b}[31m title");
    make_checkout(&scratch, "other", "of another checkout");
    scratch.write("own/file", "not committed");
    let ledger = || {
        let words = ["ledger", "--tf-a", "own", "old..HEAD"];
        let mut ledger = xtask(&words);
        ledger.current_dir(scratch.path(""));
        // GIT_DIR is set like this if another repository's hook runs the command.
        ledger.env("GIT_DIR", scratch.path("other/.git"));
        ledger.env("GIT_WORK_TREE", scratch.path("other"));
        called(&mut ledger)
    };
    let (code, out, said) = ledger();
    assert_eq!(code, 3, "{said}");
    for part in ["red .[31m title", "skipped: ", "not a TF-A source tree"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!format!("{out}{said}").contains('\u{1b}'), "{said}");
    assert!(
        said.contains("--tf-a own: uncommitted changes are not measured"),
        "{said}"
    );
    assert!(
        said.contains("the first commit cannot be measured"),
        "{said}"
    );
}
