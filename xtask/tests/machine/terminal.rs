//! `cargo xtask qemu` on a terminal and in a pipe, its log, and signals sent during a build.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::PROGRAM;
use crate::support::scratch::Scratch;
use crate::support::{End, FAIL, PASS, called, path_with, pseudo_terminal, script, send, xtask};
use crate::verdicts::{BUILTIN, with_stub};

const BEGIN: &str = "psci-bench 0.1.0\r\n\
    > Executing 'CPU suspend on all cores in sequence'\r\n@PB 0000 {} 00000000\r\n";

/// Runs `command` on a terminal. Returns the exit code and all bytes written to the terminal.
fn on_terminal(command: &mut Command) -> (Option<i32>, String) {
    let (mut ours, name) = pseudo_terminal();
    let open_terminal = || OpenOptions::new().write(true).open(&name).expect("opened");
    let mut child = command
        .stdout(open_terminal())
        .stderr(open_terminal())
        .spawn()
        .expect("it starts");
    // Drop the handles in `command`, because they would keep the other end of the terminal open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut printed = Vec::new();
    // Reading fails when the last writer exits.
    let _ = ours.read_to_end(&mut printed);
    let code = child.wait().expect("it ends").code();
    (code, String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn terminal_gets_no_records_and_the_verdict_last() {
    let target = tempfile::tempdir().expect("a temporary directory");
    let logs = target.path().join("psci-bench/logs");
    for (place, (verdict, options, has_records, code)) in [
        (PASS, &[][..], false, 0),
        (FAIL, &["--records"], true, 1),
        ("", &[], false, 3),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("{BEGIN}{verdict}\r\n");
        let (mut command, _dir) = with_stub(&text, End::Off, &BUILTIN);
        command.args(options).env("CARGO_TARGET_DIR", target.path());
        let (found, printed) = on_terminal(&mut command);
        assert_eq!(found, Some(code), "{printed}");
        assert_eq!(printed.contains("@PB"), has_records, "{printed}");
        assert_eq!(
            printed.contains("  cargo xtask report"),
            code < 3,
            "{printed}"
        );
        let log = logs.join(format!("{}.log", place + 1));
        let named = format!("xtask: log: {}\r\n", log.display());
        let (_, end) = printed.split_once(&named).expect("the log file name");
        assert!(end.contains(" after "), "{printed}");
        assert!(fs::read(log).expect("a log") == text.as_bytes());

        // If stdout is a pipe, all bytes are written to it unchanged and no log is kept.
        let (found, out, stderr) = called(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        assert_eq!((found, &*out), (code, &*text), "{stderr}");
        assert_eq!(stderr.matches("xtask: ").count(), 1, "{stderr}");
        assert_eq!(fs::read_dir(&logs).expect("logs").count(), place + 1);
    }
}

#[test]
fn terminal_shows_the_samples_under_way() {
    let plan = "iterations=300 only=psci_version_parallel,susp_deep_parallel";
    let mut command = xtask(&["qemu", "--smp", "2", "--icount", "--args", plan]);
    command.env("TERM", "xterm").env("COLUMNS", "100");
    let (code, printed) = on_terminal(&mut command);
    assert_eq!(code, Some(0), "{printed}");
    // The cursor is at the start of a line, so `^C` does not add an extra line.
    for step in ["1/2 psci_version_parallel", "2/2 susp_deep_parallel"] {
        assert!(printed.contains(step), "{step}: {printed}");
    }
    let counts = printed.split("/600 samples\r").map(|prefix| {
        let digits = prefix
            .rsplit(|character: char| !character.is_ascii_digit())
            .next();
        digits.expect("the last part").parse::<u32>().unwrap_or(0)
    });
    assert!(
        counts.filter(|count| (1..600).contains(count)).count() > 1,
        "{printed}"
    );
}

#[test]
fn log_on_a_full_disk_costs_only_the_log() {
    let text = format!("{BEGIN}{PASS}\r\n");
    let (mut command, _dir) = with_stub(&text, End::Off, &BUILTIN);
    let (code, out, stderr) = called(command.args(["--log", "/dev/full"]));
    let error = "error: --log /dev/full: the file is incomplete: No space left on device";
    assert!(
        stderr.contains("xtask: PASS") && stderr.contains(error),
        "{stderr}"
    );
    assert_eq!((code, out), (2, text));
}

/// Returns `cargo xtask qemu` with a TF-A source tree whose `make` takes a minute and ignores
/// signals.
fn that_builds(scratch: &Scratch) -> Command {
    scratch.write("tf-a/Makefile", "VERSION_MAJOR := 2\nVERSION_MINOR := 12\n");
    for file in [
        "tf-a/bl31/bl31.mk",
        "tf-a/plat/qemu/qemu/platform.mk",
        "image",
    ] {
        scratch.write(file, "x");
    }
    let build = "for word; do case $word in BUILD_BASE=*) base=${word#*=}/psci_bench_qemu/release\n\
                 esac; done; for stage in bl1 bl2 bl31; do mkdir -p $base/$stage\n\
                 touch $base/$stage.bin $base/$stage/$stage.elf; done\n\
                 trap '' INT TERM; echo $$ >\"$HOME/pid\"; mv \"$HOME/pid\" \"$HOME/building\"\n\
                 sleep 60; echo 'make: *** Error 1'";
    let bin = scratch.path("bin");
    fs::create_dir(&bin).expect("made");
    script(&bin, "make", build);
    let version =
        "[ \"$1\" = --version ] && echo QEMU emulator version 7.2.0 || touch \"$HOME/ran\"";
    script(&bin, "qemu-system-aarch64", version);
    let mut command = xtask(&["qemu", "--tf-a", "tf-a", "--image", "image"]);
    command
        .env("PATH", path_with(&bin))
        .env("HOME", scratch.path(""));
    command.env("CARGO_TARGET_DIR", scratch.path("target"));
    command.current_dir(scratch.path("")).process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn signal_in_a_build_ends_the_build_and_the_command_without_a_run() {
    // On a terminal, all foreground programs receive the signal.
    for (signal, to_all) in [("INT", true), ("TERM", false)] {
        let scratch = Scratch::new(PROGRAM);
        let child = that_builds(&scratch).spawn().expect("the program starts");
        let is_there = |path: &str| Path::new(&scratch.path(path)).exists();
        while !is_there("building") {
            std::thread::sleep(Duration::from_millis(50));
        }
        let (to, signalled) = (if to_all { "-" } else { "" }, Instant::now());
        send(signal, &format!("{to}{}", child.id()));
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        assert!(
            stderr.ends_with("xtask: interrupted\n") && !stderr.contains("Error 1"),
            "{stderr}"
        );
        assert!(!is_there("ran"), "QEMU was started");
        let took = signalled.elapsed();
        assert!(took < Duration::from_secs(30), "{took:?}");
        let make = String::from_utf8(scratch.read("building")).expect("a number");
        assert!(
            !Path::new("/proc").join(make.trim()).exists(),
            "make goes on"
        );
    }
}
