//! Installations that fail, are interrupted, or cannot start.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{interrupt, outcome, path_with, script, xtask};

/// Returns a fake apt-get that runs the shell commands in `install` to install packages. The
/// parallel download of the TF-A source never finishes.
fn apt_get(install: &str) -> String {
    format!("case $1 in indextargets) echo nowhere;; -c) exec /bin/sleep 60;; *) {install};; esac")
}

/// Replaces the programs that `command` uses to build the payload in parallel with an installation,
/// so that the build never finishes.
fn build_for_ever(command: &mut Command, dir: &Path) {
    script(dir, "endless-cargo", "exec /bin/sleep 60");
    script(dir, "any-rustc", "echo /");
    command
        .env("CARGO", dir.join("endless-cargo"))
        .env("RUSTC", dir.join("any-rustc"));
}

/// Returns what `cargo xtask qemu` prints about an installation, without output from parallel
/// steps.
fn installation_lines(stderr: &str) -> String {
    let others = [
        "xtask: building the payload",
        "xtask: fetching the source of TF-A",
    ];
    stderr
        .split_inclusive('\n')
        .filter(|line| !others.iter().any(|other| line.starts_with(other)))
        .collect()
}

/// Returns stderr from `cargo xtask qemu`, which must fail with a usage error. If `is_all` is true,
/// the scripts are the only programs in PATH. Otherwise, they come first in PATH.
fn refused_with(scripts: &[(&str, &str)], is_all: bool, no_install: bool) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, body) in scripts {
        script(dir.path(), name, body);
    }
    let mut command = xtask(&["qemu"]);
    command.env("CARGO_TARGET_DIR", dir.path());
    match is_all {
        true => {
            build_for_ever(&mut command, dir.path());
            command.env("PATH", dir.path())
        }
        false => command.env("PATH", path_with(dir.path())),
    };
    if no_install {
        command.env("PSCI_BENCH_NO_INSTALL", "1");
    }
    let (code, stderr) = outcome(&mut command);
    assert_eq!(code, 2, "{stderr}");
    installation_lines(&stderr)
}

/// If an installation fails, the end of its output is shown and the full output is saved to a file.
#[test]
fn output_of_an_install_is_kept_in_a_file() {
    let apt_outcome = |code: u8| {
        let body = format!("for i in $(/usr/bin/seq 300); do echo $1 $i; done; exit {code}");
        let apt_get = apt_get(&body);
        refused_with(
            &[("apt-get", &apt_get), ("sudo", "exec \"$@\"")],
            true,
            false,
        )
    };
    let not_found = "xtask: installing qemu-system-arm, gcc-aarch64-linux-gnu, make, dpkg-dev\n\
                     xtask: error: qemu-system-arm was installed but is still not found\n";
    assert_eq!(apt_outcome(0), not_found);
    let stderr = apt_outcome(7);
    assert!(
        stderr.contains("\nupdate 300\nits full output is in "),
        "{stderr}"
    );
    assert!(
        stderr.ends_with("psci-bench/install-apt-get.log\n"),
        "{stderr}"
    );
    assert!(
        stderr.lines().count() < 50 && !stderr.contains('\r'),
        "{stderr}"
    );
}

#[test]
fn an_interrupted_install_ends_in_one_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let body = "echo > $CARGO_TARGET_DIR/begun; exec /bin/sleep 60";
    script(dir.path(), "apt-get", &apt_get(body));
    script(dir.path(), "sudo", "exec \"$@\"");
    let mut command = xtask(&["qemu"]);
    command
        .env("CARGO_TARGET_DIR", dir.path())
        .env("PATH", dir.path());
    build_for_ever(&mut command, dir.path());
    let child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    while !dir.path().join("begun").exists() {
        thread::sleep(Duration::from_millis(10));
    }
    interrupt(&child.id().to_string());
    let end = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&end.stderr);
    assert_eq!(
        installation_lines(&stderr),
        "xtask: installing qemu-system-arm, gcc-aarch64-linux-gnu, make, dpkg-dev\nxtask: interrupted\n"
    );
    assert_eq!(end.status.code(), Some(3));
}

/// The tests also build firmware with certificates, which cannot be built in a path with a space.
#[test]
fn tests_in_a_path_with_a_space_are_refused_first() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let place = dir.path().join("a b");
    for verb in ["setup", "test"] {
        let (code, stderr) = outcome(xtask(&[verb]).env("CARGO_TARGET_DIR", &place));
        assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
        assert!(
            stderr.contains("a b: TF-A's makefiles") && stderr.contains("set CARGO_TARGET_DIR"),
            "{stderr}"
        );
        assert!(!place.join("psci-bench/tf-a").exists());
    }
}
