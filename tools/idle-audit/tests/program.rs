//! Runs the example commands in the help and on the pages.

use std::fs;

use cli::program::XTASK;
use report::cli::example_files::make_example_files;
use test_support::examples::run_examples;

#[test]
fn documented_commands_run() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    make_example_files(folder.path());
    // The source of a tree in which nothing is wrong is never changed.
    fs::write(folder.path().join("work/board.dts"), "/dts-v1/;\n").expect("written");
    for (name, least) in [("psci-idle-audit", 5), (XTASK, 6)] {
        let count = run_examples(
            env!("CARGO_BIN_EXE_psci-idle-audit"),
            &idle_audit::cli::command(name),
            folder.path(),
            |_| false,
        );
        assert!(count >= least, "{name}: {count}");
    }
}
