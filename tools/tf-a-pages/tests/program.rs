//! Runs the example commands in the help and on the pages.

use std::fs;
use std::process::Command;

use cli::program::XTASK;
use report::cli::example_files::make_example_files;
use test_support::examples::run_examples;

/// The part of TF-A's Makefile that identifies a folder as TF-A's source tree.
const MAKEFILE: &str = "VERSION_MAJOR := 2\nVERSION_MINOR := 15\n";

#[test]
fn documented_commands_run() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    make_example_files(folder.path());
    for tree in ["trusted-firmware-a", "tf-a", "work/TF-A"].map(|name| folder.path().join(name)) {
        fs::create_dir_all(tree.join("docs/perf")).expect("made");
        fs::write(tree.join("Makefile"), MAKEFILE).expect("written");
    }
    // As in TF-A, a page that was not generated, and its tables.
    let [from, to] = ["work", "tf-a"].map(|name| folder.path().join(name).join("docs/perf"));
    let copied = Command::new("cp").arg("-rT").args([from, to]).status();
    assert!(copied.is_ok_and(|status| status.success()));
    for (name, least) in [("psci-tf-a-pages", 3), (XTASK, 4)] {
        let count = run_examples(
            env!("CARGO_BIN_EXE_psci-tf-a-pages"),
            &tf_a_pages::cli::command(name),
            folder.path(),
            |_| false,
        );
        assert!(count >= least, "{name}: {count}");
    }
}
