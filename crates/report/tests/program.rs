//! `psci-report` in a folder in which there is nothing of the repository.

use std::fs;
use std::process::{Command, Output};

use report::made_up_run;
use run::plan::Records;
use tempfile::TempDir;

/// Runs `psci-report` in `folder`, with no more of this process's environment than PATH.
fn psci_report(folder: &TempDir, arguments: &[&str]) -> Output {
    let path = std::env::var_os("PATH").expect("PATH");
    let mut command = Command::new(env!("CARGO_BIN_EXE_psci-report"));
    command.args(arguments).current_dir(folder.path());
    command.env_clear().env("PATH", path);
    command.output().expect("it can be started")
}

#[test]
fn log_is_read_and_its_board_named_without_a_checkout() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let log = made_up_run::log(&made_up_run::run(), Records::Once);
    fs::write(folder.path().join("run.log"), log).expect("written");
    let output = psci_report(
        &folder,
        &["report", "run.log", "--format", "html", "-o", "run.html"],
    );
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(folder.path().join("run.html")).expect("a page");
    assert!(page.contains("<title>PSCI latencies of QEMU virt"));
}

#[test]
fn error_begins_with_the_name_of_the_program() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let output = psci_report(&folder, &["report", "missing.log"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("psci-report: error: missing.log: "),
        "{said}"
    );
}
