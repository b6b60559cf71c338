//! Tests `cargo xtask completions` in bash, and `--version`.

use std::fs;
use std::path::Path;
use std::process::Command;

use host::process;
use runner::setup::workspace::Workspace;

use crate::support::xtask;

/// Completes a command line of cargo after the script in the file `$1`. Another completion of cargo
/// comes before it.
const COMPLETE: &str = r#"
_other() { COMPREPLY=("$1 $COMP_CWORD"); }
complete -F _other cargo
for time in first second; do source "$1"; done
complete -p cargo
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_psci_bench_cargo cargo "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
echo "${COMPREPLY[*]}"
"#;

/// Returns what bash suggests for the last of `words`, separated by spaces.
fn suggestions(script: &Path, words: &[&str]) -> String {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", COMPLETE, "bash"]);
    let printed = process::output(bash.arg(script).args(words)).expect("bash");
    let (registered, suggested) = printed.split_once('\n').expect("two lines");
    assert!(
        registered.ends_with("-F _psci_bench_cargo cargo"),
        "{registered}"
    );
    suggested.trim_end().to_owned()
}

#[test]
fn bash_completes_verbs_options_and_tools() {
    let folder = tempfile::tempdir().expect("a directory");
    let script = folder.path().join("script");
    let printed = process::output(&mut xtask(&["completions", "bash"])).expect("a script");
    fs::write(&script, printed).expect("written");
    for (words, expected) in [
        (&["cargo", "xtask", "qe"][..], "qemu"),
        (&["cargo", "xtask", "comp"], "completions compare"),
        (&["cargo", "xtask", "qemu", "--sm"], "--smp"),
        (&["cargo", "xtask", "fip", "pac"], "pack"),
        (&["cargo", "xtask", "report", "--ope"], "--open"),
        (
            &["cargo", "xtask", "completions", ""],
            "-h --color --help bash fish zsh",
        ),
        // Other commands of cargo are completed as before.
        (&["cargo", "bu"], "cargo 1"),
        (&["cargo", "build", "--rel"], "cargo 2"),
    ] {
        assert_eq!(suggestions(&script, words), expected, "{words:?}");
    }
}

#[test]
fn version_has_the_commit_of_the_checkout() {
    let root = Workspace::find().expect("the repository").root;
    let printed = process::output(&mut xtask(&["--version"])).expect("a version");
    let version = format!("psci-bench {}", env!("CARGO_PKG_VERSION"));
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(&root)
        .args(["rev-parse", "--short=12", "HEAD"]);
    let expected = match process::output(&mut git) {
        Ok(commit) if root.join(".git").exists() => format!("{version} ({}", commit.trim()),
        _ => version,
    };
    assert!(printed.starts_with(&expected), "{printed}");
}
