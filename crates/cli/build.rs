//! Passes the checkout's commit to `--version` of optimized programs, as in releases.
//!
//! Development builds do not contain the commit, because each new commit would rebuild every program
//! and test. `cargo xtask --version` reads it from the checkout instead.

use std::env;
use std::path::Path;
use std::process::Command;

/// The number of hexadecimal digits of an abbreviated commit. The default depends on the checkout.
const DIGITS: &str = "--short=12";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_optimized = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // Sources without .git may be in a folder of another repository.
    if !is_optimized || !root.join(".git").exists() {
        return;
    }
    // The reflog changes with every commit, and HEAD if another branch is checked out.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&root, &["--git-path", file])
            && root.join(&path).exists()
        {
            println!("cargo::rerun-if-changed={}", root.join(path).display());
        }
    }
    if let Some(commit) = git(&root, &[DIGITS, "HEAD"]) {
        println!("cargo::rustc-env=PSCI_BENCH_COMMIT={commit}");
    }
}

/// Returns what `git rev-parse` prints for `arguments`, or None if it fails or there is no git.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // In a hook, these refer to another repository.
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    // It is safe to read a checkout owned by another user, as in a container.
    command.args(["-c", "safe.directory=*", "-C"]).arg(root);
    let output = command.arg("rev-parse").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
