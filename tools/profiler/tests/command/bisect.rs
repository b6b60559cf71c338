//! Finds the commit of a TF-A checkout that broke a function.

use std::fs;
use std::path::Path;
use std::process::Command;

use host::process;
use runner::build::tf_a::TfA;
use runner::setup::workspace::Workspace;
use test_support::scratch::Scratch;
use test_support::{called, command};

use crate::PROGRAM;

fn git(root: &Path, words: &[&str]) {
    let mut git = Command::new("git");
    let user = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git.args(user).arg("-C").arg(root).args(words);
    process::output(&mut git).expect("git");
}

/// Commits the checkout after replacing text in one of its files.
fn commit(root: &Path, title: &str, file: &str, [old, new]: [&str; 2]) {
    let path = root.join(file);
    let text = fs::read_to_string(&path).expect("the TF-A source");
    assert!(text.contains(old), "{file}: {old}");
    fs::write(path, text.replace(old, new)).expect("written");
    git(root, &["commit", "--quiet", "--all", "--message", title]);
}

/// Returns what a bisection of CPU_ON prints, on standard output and standard error.
fn bisect(root: &Path) -> (String, String) {
    let words = ["bisect", "verdict:CPU_ON", "good..HEAD", "--first-parent"];
    let mut bisect = command(PROGRAM, &words);
    bisect.args(["--smp", "2", "--tf-a"]).arg(root);
    let (code, out, stderr) = called(&mut bisect);
    assert_eq!(code, 1, "{stderr}");
    (out, stderr)
}

/// The commit is on a merged branch, behind a commit that does not build.
#[test]
fn commit_that_broke_cpu_on_is_named() {
    let workspace = Workspace::find().expect("the workspace");
    let source = TfA::locate(&workspace, None).expect("TF-A").dir;
    let scratch = Scratch::new(PROGRAM);
    let root = scratch.path("tf-a");
    process::output(Command::new("cp").arg("-r").args([&source, &root])).expect("copied");
    git(&root, &["init", "--quiet", "--initial-branch", "main"]);
    git(&root, &["add", "--all", "--force"]);
    git(&root, &["commit", "--quiet", "--message", "good"]);
    git(&root, &["tag", "good"]);
    git(&root, &["checkout", "--quiet", "-b", "topic"]);
    let (file, call) = ("lib/psci/psci_on.c", "psci_plat_pm_ops->pwr_domain_on(");
    commit(
        &root,
        "typo",
        file,
        [call, "psci_plat_pm_op->pwr_domain_on("],
    );
    let lost = [
        "psci_plat_pm_op->pwr_domain_on(target_cpu)",
        "PSCI_E_SUCCESS",
    ];
    commit(&root, "no CPU comes", file, lost);
    git(&root, &["checkout", "--quiet", "main"]);
    git(
        &root,
        &["merge", "--quiet", "--no-ff", "-m", "Merge topic", "topic"],
    );

    let (out, stderr) = bisect(&root);
    for part in [
        "Merge topic: CPU_ON works -> FAILS",
        "no CPU comes: CPU_ON works -> FAILS",
        "skipped: ",
        "'psci_plat_pm_op' undeclared",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    for part in [
        "on the branch merged by ",
        "CPU_ON returned SUCCESS, but the CPU did not arrive in time",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // The results for all commits are now known, including the one that does not compile.
    let (again, stderr) = bisect(&root);
    assert_eq!(again, out);
    assert!(!stderr.contains("building TF-A"), "{stderr}");
}
