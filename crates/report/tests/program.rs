//! Runs `psci-report` in a folder that contains nothing from the repository.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use cli::program::XTASK;
use report::cli::example_files::make_example_files;
use report::synthetic_run;
use suite::plan::Records;
use tempfile::TempDir;
use test_support::examples::run_examples;

/// Runs `psci-report` in `folder`, keeping only PATH from this process's environment.
fn psci_report(folder: &TempDir, arguments: &[&str]) -> Output {
    let path = std::env::var_os("PATH").expect("PATH");
    let mut command = Command::new(env!("CARGO_BIN_EXE_psci-report"));
    command.args(arguments).current_dir(folder.path());
    command.env_clear().env("PATH", path);
    command.output().expect("psci-report starts")
}

#[test]
fn log_is_read_and_its_board_named_without_a_checkout() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
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
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("psci-report: error: missing.log: "),
        "{stderr}"
    );
}

/// Creates an `xdg-open` program in `folder` that writes its argument to a file in that folder.
fn make_browser(folder: &Path) {
    let program = folder.join("xdg-open");
    let body = format!("#!/bin/sh\necho \"$1\" > {}/opened\n", folder.display());
    fs::write(&program, body).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made executable");
}

/// Returns a command that runs `psci-report` in `folder`, with only that folder in PATH.
fn psci_report_alone(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_psci-report"));
    command.args(arguments).current_dir(folder).env_clear();
    // The fake browser needs no PATH to find its shell.
    command.env("PATH", folder).env("TMPDIR", folder);
    command
}

#[test]
fn open_shows_the_page_by_the_program_of_the_desktop() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let folder = temporary.path();
    let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
    fs::write(folder.join("run.log"), log).expect("written");
    make_browser(folder);
    for (output, ending) in [(&["-o", "run.html"][..], "/run.html"), (&[], ".html")] {
        let words = [&["report", "run.log", "--open"], output].concat();
        let output = psci_report_alone(folder, &words).output().expect("run");
        assert!(output.status.success(), "{output:?}");
        let opened = fs::read_to_string(folder.join("opened")).expect("opened");
        assert!(opened.trim_end().ends_with(ending), "{opened}");
        let page = fs::read_to_string(opened.trim_end()).expect("a page");
        assert!(page.contains("<title>PSCI latencies of QEMU virt"));
    }
    // Other formats do not create a page.
    let words = ["report", "run.log", "--open", "--format", "csv"];
    let output = psci_report_alone(folder, &words).output().expect("run");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr.contains("not --format csv; use --format html"),
        "{stderr}"
    );
}

#[test]
fn open_without_a_browser_names_the_page() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let folder = temporary.path();
    let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
    fs::write(folder.join("run.log"), log).expect("written");
    let shown = fs::canonicalize(folder).expect("there").join("run.html");
    let assert_fails = |reason: &str| {
        let words = ["report", "run.log", "--open", "-o", "run.html"];
        let output = psci_report_alone(folder, &words).output().expect("run");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        let error = format!("--open: {reason}; open {} in a browser", shown.display());
        assert!(stderr.contains(&error), "{stderr}");
    };
    assert_fails("xdg-open is not installed");
    assert!(shown.is_file());

    fs::write(folder.join("xdg-open"), "#!/bin/sh\nexit 3\n").expect("written");
    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join("xdg-open"), permissions).expect("made executable");
    assert_fails("xdg-open failed (exit status: 3)");
}

#[test]
fn retired_verb_and_format_name_their_successors() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    for (words, successor) in [
        (&["merge", "a.log"][..], "use `report LOG…`"),
        (&["report", "a.log", "--format", "bug"], "--format md"),
        (
            &["publish", "a.log", "--platform", "juno", "tf-a"],
            "publish is a verb of psci-tf-a-pages (tools/tf-a-pages in the repository)",
        ),
        (
            &["report", "a.log", "--format", "dt"],
            "use `audit-idle` of psci-idle-audit (tools/idle-audit in the repository)",
        ),
        (
            &["audit-idle", "a.log"],
            "audit-idle is a verb of psci-idle-audit (tools/idle-audit in the repository)",
        ),
        (
            &["audit", "--help"],
            "audit is a verb of psci-tf-a-pages (tools/tf-a-pages in the repository)",
        ),
    ] {
        let output = psci_report_alone(folder.path(), words)
            .output()
            .expect("run");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(successor), "{stderr}");
    }
}

/// Runs the examples of this program's verbs from its help and the pages, also those that begin with
/// `cargo xtask`. `follow` on a port needs a board.
#[test]
fn documented_commands_run() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    make_example_files(folder.path());
    make_browser(folder.path());
    for (name, least) in [("psci-report", 10), (XTASK, 20)] {
        let count = run_examples(
            env!("CARGO_BIN_EXE_psci-report"),
            &report::cli::command(name),
            folder.path(),
            |example| example.words[0] == "follow" && example.input.is_none(),
        );
        assert!(count > least, "{name}: {count}");
    }
}
