//! `psci-report follow`: follows a run over a pseudo terminal and through a pipe.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use report::synthetic_run::{BOOT, passed_log};

use crate::support::{called, outcome, psci_report, pseudo_terminal};

fn start(dir: &Path, arguments: &[&str]) -> Child {
    let log = dir.join("run.log");
    let mut command = psci_report(&["follow", "--log"]);
    command.arg(log).args(arguments);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Waits until `done` returns true, for up to a minute.
fn wait_until(mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "timed out");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for the program and returns its exit code, stdout, stderr, and the saved log.
fn ended(dir: &Path, mut child: Child) -> (i32, String, String, Vec<u8>) {
    wait_until(|| child.try_wait().expect("it is ours").is_some());
    let output = child.wait_with_output().expect("it has exited");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().expect("not killed");
    let log = fs::read(dir.join("run.log")).expect("the log");
    (code, text(output.stdout), text(output.stderr), log)
}

/// Sends `log` in parts. Waits until the program has opened the serial line, because the terminal
/// echoes its input until then.
fn send(line: &mut File, log: &[u8]) {
    std::thread::sleep(Duration::from_millis(500));
    for chunk in log.chunks(1000) {
        line.write_all(chunk).expect("written");
    }
}

#[test]
fn a_serial_port_is_followed_to_the_last_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut ours, name) = pseudo_terminal();
    let out = dir.path().join("report.txt");
    let to = out.to_str().expect("UTF-8");
    let child = start(dir.path(), &[&name, "-o", to]);
    send(&mut ours, passed_log().as_bytes());
    let (code, _, stderr, kept) = ended(dir.path(), child);
    assert_eq!(code, 0, "{stderr}");
    assert!(kept == passed_log().as_bytes(), "{} bytes", kept.len());
    for part in [
        "1/6 susp_deep_parallel",
        "2/6 cpu_susp_serial",
        "the run has ended",
    ] {
        assert!(stderr.contains(part), "{stderr}");
    }
    let report = fs::read_to_string(out).expect("a report");
    assert!(report.contains("Last man down in cluster 0"), "{report}");
}

#[test]
fn a_board_that_falls_silent_is_not_waited_for_for_ever() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut ours, name) = pseudo_terminal();
    let started = Instant::now();
    let child = start(dir.path(), &[&name, "--timeout", "3"]);
    let half = &passed_log().as_bytes()[..passed_log().len() / 2];
    send(&mut ours, half);
    let (code, out, stderr, kept) = ended(dir.path(), child);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(code, 3, "{stderr}");
    let is_said = stderr.contains("timed out") && stderr.contains("incomplete");
    assert!(is_said, "{stderr}");
    assert!(kept == half && out.contains("Powerdown"), "{out}");
}

#[test]
fn stdin_is_followed_and_what_came_is_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = start(dir.path(), &["-"]);
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(passed_log().as_bytes()).expect("written");
    // The pipe is still open, so the last line of the log must have ended the run.
    let (code, out, stderr, kept) = ended(dir.path(), child);
    drop(pipe);
    assert_eq!(
        (code, kept == passed_log().as_bytes()),
        (0, true),
        "{stderr}"
    );
    assert!(out.contains("Last man down"), "{out}");

    // After Ctrl-C, the report covers the data received so far.
    fs::remove_file(dir.path().join("run.log")).expect("it existed");
    let mut child = start(dir.path(), &["-"]);
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(&passed_log().as_bytes()[..passed_log().len() / 2])
        .expect("written");
    let kept = dir.path().join("run.log");
    wait_until(|| fs::metadata(&kept).is_ok_and(|metadata| metadata.len() > 1000));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is ours");
    let (code, _, stderr, _) = ended(dir.path(), child);
    drop(pipe);
    assert_eq!(
        (code, stderr.contains("interrupted")),
        (3, true),
        "{stderr}"
    );

    fs::remove_file(&kept).expect("it existed");
    let mut child = start(dir.path(), &["-"]);
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(BOOT.as_bytes()).expect("written");
    drop(pipe);
    let (code, out, stderr, _) = ended(dir.path(), child);
    assert!(code == 3 && out.contains("\nBoot time\n"), "{stderr}");
    assert!(stderr.contains("none: no run"), "{stderr}");

    let (code, stderr) = outcome(&mut psci_report(&["follow", "/dev/no-such-port"]));
    assert_eq!(code, 2, "{stderr}");
}

/// The command does not write to its input file, even if it reads that file from stdin. An existing
/// log is left unchanged if nothing is received. The report is the same whether or not the log can
/// be saved.
#[test]
fn stdin_and_the_log_are_two_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("k.log");
    let full = "--log /dev/full: the file is incomplete: No space left";
    for (line, is_read, code, part) in [
        (
            "report - -o k.log",
            true,
            2,
            "-o k.log: this is the input file for LOG",
        ),
        (
            "follow - --log k.log",
            true,
            2,
            "this is the input file for PORT",
        ),
        ("follow - --log k.log", false, 2, "the log is empty"),
        ("follow - --log /dev/full", true, 2, full),
    ] {
        fs::write(&path, passed_log()).expect("written");
        let input = if is_read {
            &*path
        } else {
            Path::new("/dev/null")
        };
        let mut command = psci_report(&line.split(' ').collect::<Vec<_>>());
        command.current_dir(&dir);
        command.stdin(File::open(input).expect("there"));
        let (found, out, stderr) = called(&mut command);
        assert!(found == code && stderr.contains(part), "{line}: {stderr}");
        assert!(
            fs::read(&path).expect("there") == passed_log().as_bytes(),
            "{line}"
        );
        assert_eq!(out.contains("Last man down"), part == full, "{out}");
    }
}

#[test]
fn log_that_another_run_writes_is_not_followed_into() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("k.log");
    fs::write(&path, passed_log()).expect("written");
    let other = File::open(&path).expect("there");
    other.lock().expect("no other owner");
    let mut command = psci_report(&["follow", "-", "--log", "k.log"]);
    command.current_dir(&dir).stdin(Stdio::null());
    let (code, stderr) = outcome(&mut command);
    let part = "--log k.log: another run is writing to this file";
    assert!(code == 2 && stderr.contains(part), "{stderr}");
    assert!(fs::read(&path).expect("there") == passed_log().as_bytes());
}
