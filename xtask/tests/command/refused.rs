//! Invalid input produces exit code 2 and a message that explains what to do. Nothing is written.

mod commands;
mod shell;

use std::fmt::Debug;
use std::fs::{self, File};
use std::process::Command;

use runner::build::tf_a::TF_A;

use crate::support::PROGRAM;
use crate::support::packages::{boards_files, material, trusted};
use crate::support::scratch::Scratch;
use crate::support::{End, PASS, called, outcome, script, stub, xtask};

/// Runs each command with `refuse` and checks for parts of the message.
fn check<C: Debug + Copy>(rows: &[(C, &[&str])], refuse: impl Fn(C) -> String) {
    let mut wrong = String::new();
    for (command, parts) in rows {
        let stderr = refuse(*command);
        for part in parts.iter().filter(|part| !stderr.contains(**part)) {
            wrong += &format!("{command:?}: {part:?} in\n{stderr}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn commands_are_refused_by_name() {
    let scratch = material(PROGRAM);
    check(commands::REFUSED, |line| scratch.refused(line));
    let assert_no_build = |stderr: String| {
        assert!(
            !stderr.contains("building") && !stderr.contains("fetching"),
            "{stderr}"
        );
        stderr
    };
    check(commands::REFUSED_AT_ONCE, |line| {
        assert_no_build(scratch.refused(line))
    });
    check(commands::REFUSED_WORDS, |words| {
        assert_no_build(scratch.refused_words(words))
    });
}

/// Memory is limited to prove that no large file is read into it, and file sizes are limited so
/// that writes fail. The program ignores SIGXFSZ, so a write returns an error instead of killing
/// it.
const LIMITS: &str = "trap '' XFSZ; ulimit -f 2; ulimit -v 400000;";

/// Creates the files, boards and programs that the commands use.
fn faulty() -> Scratch {
    let scratch = boards_files(PROGRAM);
    trusted(&scratch, "ecdsa", "sha256", "");
    let proxy = "::Proxy \"http://127.0.0.1:9\";\n";
    let proxies = format!("Acquire::http{proxy}Acquire::https{proxy}");
    for (name, data) in [
        ("large", &[1; 2000][..]),
        ("folder/tb-fw.bin", b"mine"),
        ("xtask/empty", b""),
        ("stub", &stub(PASS, End::Off)),
        ("apt.conf", proxies.as_bytes()),
    ] {
        scratch.write(name, data);
    }
    scratch.write("sparse", "");
    let sparse = File::options()
        .write(true)
        .open(scratch.path("sparse"))
        .expect("there");
    sparse.set_len(4 << 30).expect("a sparse file");
    for (folder, name, body) in [
        ("fails", "apt-get", "echo \"called: $*\" >&2; exit 100"),
        ("fails", "sudo", "exec \"$@\""),
        (
            "old",
            "qemu-system-aarch64",
            "echo QEMU emulator version 5.2.0",
        ),
        ("odd", "qemu-system-aarch64", "echo something else"),
        // A step that runs in parallel with an installation and never finishes on its own.
        ("endless", "cargo", "exec /bin/sleep 60"),
        ("endless", "rustc", "echo /"),
    ] {
        let folder = scratch.path("programs").join(folder);
        fs::create_dir_all(&folder).expect("made");
        script(&folder, name, body);
    }
    scratch.theirs("mkfifo fifo");
    scratch
}

#[test]
fn files_and_programs_are_refused_at_once_by_what_to_do() {
    let scratch = faulty();
    check(shell::REFUSED, |line| {
        let limits = if line.contains("apt.conf") {
            ""
        } else {
            LIMITS
        };
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limits} {line}")]);
        shell
            .current_dir(scratch.path(""))
            .env("X", xtask(&[]).get_program());
        shell.env("CARGO_TARGET_DIR", scratch.path("target"));
        let endless = scratch.path("programs/endless");
        shell
            .env("CARGO", endless.join("cargo"))
            .env("RUSTC", endless.join("rustc"));
        let (code, stderr) = outcome(&mut shell);
        assert_eq!(code, 2, "{line}: {stderr}");
        stderr
    });
    assert!(!scratch.path("new").exists());
    for (folder, only) in [
        ("folder", "tb-fw.bin".to_owned()),
        ("target/psci-bench/tf-a", format!("{}.lock", TF_A.version)),
    ] {
        let entries = fs::read_dir(scratch.path(folder)).expect(folder);
        let names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(names, [&*only], "partial output was left");
    }
    assert_eq!(scratch.read("folder/tb-fw.bin"), b"mine");
}

#[test]
fn help_is_no_error() {
    let (code, out, _) = called(&mut xtask(&["--help"]));
    assert!(code == 0 && !out.is_empty());
}
